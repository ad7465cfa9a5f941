/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP: stencils over grids. This file is the descriptor from which parser, completion, help, planner and EXPLAIN
 * work; the engine's registry names it.
 */
#include "sweep/work.h"

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a grid of one to three dimensions"},
    {.keyword = "STEP",
     .form = "[%n =] %f ,...",
     .slots = "u,x,y,z,t",
     .required = true,
     .help = "what each field becomes: u[-1,0] is the neighbour on the left"},
    {.keyword = "STEPS", .form = "%i", .help = "how many (1); with UNTIL the most"},
    {.keyword = "UNTIL",
     .form = "max|l2 < %r [EVERY %i]",
     .help = "stop once a step changes less; looked at each k-th"},
    {.keyword = "EDGE",
     .form = "[OF %n] [left|right|bottom|top|front|back|x|y|z] "
             "{fixed [%v]|clamp|neumann %r|robin %r %r %r|periodic|mirror}",
     .repeated = true,
     .help = "what lies beyond the faces (fixed: border cells stay); later ones win"},
    {.keyword = "COEFF", .form = "%n = %a ,...", .repeated = true, .help = "a grid that STEP reads and that stays"},
    {.keyword = "SOURCE", .form = "%a", .help = "a grid that is added to what STEP gives"},
    {.keyword = "CHANGE", .form = "EVERY %i", .help = "how much each k-th step changed (NAME_change)"},
    {.keyword = "KEEP", .form = "EVERY %i [TO %s]", .help = "files of the grid after each k-th step, * its number"},
    {.keyword = "TYPE", .form = "F32|F64", .help = "of numbers (the grid's)"},
    {.keyword = "LEVELS", .form = "%i", .help = "steps in one pass over memory (as is best); 1: one by one"},
    {.keyword = "PARTS", .form = "%i", .help = "ranks or GPUs that the grid is cut over, at most (all)"},
    {.keyword = "EXCHANGE",
     .form = "[sync|async] [EVERY %i] [BY kernel|copy|host] [TO %s]",
     .help = "how parts give each other borders, to compare (as is best); TO: a file of the times"},
};

static const char *const examples[] = {
    "SWEEP plate STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 500",
    "SWEEP plate STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 1e5 UNTIL max < 1e-6 EVERY 50",
    "SWEEP rod STEP u + 0.2 * (u[-1] - 2*u + u[1]) STEPS 1000 EDGE left fixed 1 EDGE right neumann 0",
    "SWEEP w STEP u = 2*u - v + k*(u[-1] - 2*u + u[1]), v = u STEPS 400 COEFF k = speed EDGE mirror",
    "SWEEP g STEP u + 0.1 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u) STEPS 1e4 KEEP EVERY 1000 TO 'h_*.npy'",
    NULL,
};

static const char help[] =
    "SWEEP grid STEP expr STEPS n computes every cell anew from the cells around it, all at once, n times (Jacobi).\n"
    "In expr a field's name with offsets, u[dx,dy,dz], is the cell so far off (4 at most along each axis), u alone "
    "the\n"
    "cell itself; a grid of one field calls it u or by its own name. Several: STEP u = expr, v = expr, all updated\n"
    "together. Besides: COEFF name = grid, read in the same way; x, y, z, the cell's place, counted from 0; t, how "
    "many\n"
    "steps have led to the values that are read. SOURCE grid is added to what expr gives.\n"
    "\n"
    "EDGE [OF field] [face] kind says what is read beyond a face: left and right (low and high x), bottom and top "
    "(y),\n"
    "front and back (z), an axis for both of its faces, nothing for all. fixed: the border cells, as many as the "
    "step\n"
    "reaches, keep their values; this is where nothing is said. fixed v, fixed array: beyond the face lies v, or "
    "the\n"
    "array's element for that place of the face. clamp: the outermost cell. neumann g: the outward difference is g "
    "a\n"
    "cell. robin a b g: a u + b du/dn = g on the face. periodic: the other side. mirror: about the outermost cell.\n"
    "Where faces meet, along x first, then y, then z.\n"
    "\n"
    "Linear expressions are recognised and computed in an order of their own, others as they are written; the same\n"
    "bits on each device, for any number of threads, blocked in time or not.\n"
    "\n"
    "UNTIL max < e (the greatest change of a cell) or l2 < e (the root of the sum of their squares) [EVERY k] stops\n"
    "after the first step that changes less, looked at after each step whose number divides by k (1) and the last.\n"
    "UNTIL, or CHANGE EVERY k, makes a table NAME_change (step, max, l2). KEEP EVERY k writes files; SWEEP of one "
    "of\n"
    "them goes on with the bits of a run that was never interrupted.\n"
    "\n"
    "On several GPUs, or under mpirun, the grid is cut in parts. To see what that costs: PARTS n takes fewer of "
    "them;\n"
    "EXCHANGE sync waits for borders before all else, async computes the centre meanwhile; EVERY k: borders k steps\n"
    "deep; BY copy packs them by copies of two dimensions, not by kernels; BY host sends them through the host's\n"
    "memory also where ranks' GPUs reach each other's; TO 'file.csv': a line of each part and exchange, in seconds\n"
    "(lacis-bench sweep --experiment makes tables of them).\n"
    "docs/sweep.md has the mathematics, the order of sums and the costs.";

const lacis_op lacis_op_sweep = {
    .verb = "SWEEP",
    .summary = "stencils over a grid, step after step",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "cell updates",
    .bind = lacis_sweep_bind,
    .explain = lacis_sweep_explain,
    .calibrate = lacis_sweep_calibrate,
    .variants = lacis_sweep_variants,
    .variant_count = LACIS_SWEEP_VARIANTS,
    .tables = (const char *const[]){"change", NULL},
};
