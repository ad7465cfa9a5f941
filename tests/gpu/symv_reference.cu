/* SPDX-License-Identifier: Apache-2.0
 *
 * See symv_tiles.h: errors and figures from a case's reference.
 */
#include "symv_tiles.h"

#include <cmath>
#include <complex>
#include <cstring>

/* The number at an element of x or y: real high, real low, imaginary high, imaginary low. */
static void numbers(lacis_symv_type type, const unsigned char *from, double *v)
{
    const bool single = type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64;
    const int count = lacis_symv_vector_bytes(type) / (single ? 4 : 8);
    const int parts = lacis_symv_complex(type) ? 2 : 1, lows = count / parts;
    v[0] = v[1] = v[2] = v[3] = 0;
    for (int part = 0; part < parts; part++)
        for (int low = 0; low < lows; low++) {
            float f;
            const int i = part * lows + low;
            if (single) {
                memcpy(&f, from + 4 * i, 4);
                v[2 * part + low] = (double)f;
            } else {
                memcpy(&v[2 * part + low], from + 8 * i, 8);
            }
        }
}

double symv_worst(const symv_data *d, const std::vector<unsigned char> &y)
{
    const lacis_symv_type type = d->is.type;
    const bool single = type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64;
    const bool low =
        type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD || type == LACIS_SYMV_F64_DD;
    const double u = low ? 0x1p-103 : single ? 0x1p-24 : 0x1p-53;
    double worst = 0;
    size_t k = 0;
    for (const lacis_symv_one &one : d->ones)
        for (int64_t r = 0; r < d->is.sides; r++)
            for (int64_t i = 0; i < one.n; i++, k++) {
                double v[4], off = 0;
                numbers(type,
                        &y[(size_t)((one.y + r * d->y_side + i * d->is.y_step) * lacis_symv_vector_bytes(type))], v);
                for (int part = 0; part < 4; part += 2)
                    off += std::fabs((v[part] - d->want[4 * k + (size_t)part]) +
                                     (v[part + 1] - d->want[4 * k + (size_t)part + 1]));
                const double part = off / (2 * (double)(one.n + 8) * u * d->scale[k]);
                if (!(part <= worst)) worst = part == part ? part : INFINITY;
            }
    return worst;
}

static std::complex<double> rounded(const double *v)
{
    return {v[0], v[2]};
}

symv_known_figures symv_figures_of(const symv_data *d, int64_t side)
{
    const symv_case &is = d->is;
    const lacis_symv_one &one = d->ones[0];
    const int64_t bytes = lacis_symv_vector_bytes(is.type);
    const std::complex<double> alpha = rounded(is.alpha), beta = rounded(is.beta);
    std::complex<double> dot = 0;
    symv_known_figures f = {};
    double squares = 0;
    for (int64_t i = 0; i < one.n; i++) {
        double x[4], y0[4] = {0, 0, 0, 0};
        const size_t k = (size_t)(side * one.n + i);
        numbers(is.type, &d->x[(size_t)((one.x + side * d->x_side + i * is.x_step) * bytes)], x);
        if (beta != 0.0) numbers(is.type, &d->y0[(size_t)((one.y + side * d->y_side + i * is.y_step) * bytes)], y0);
        const std::complex<double> y = rounded(&d->want[4 * k]);
        const std::complex<double> part = std::conj(rounded(x)) * ((y - beta * rounded(y0)) / alpha);
        dot += part;
        f.dot_scale += std::abs(rounded(x)) * d->scale[k] / std::abs(alpha);
        f.norm1 += std::abs(y);
        squares += std::norm(y);
        f.norm_max = std::fmax(f.norm_max, std::abs(y));
    }
    f.norm2 = std::sqrt(squares);
    f.dot = dot.real();
    f.dot_im = dot.imag();
    return f;
}
