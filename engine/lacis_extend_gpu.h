/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_gpu.h - the part of lacis_extend.h, which includes it, that is about GPUs.
 */
#ifndef LACIS_EXTEND_GPU_H
#define LACIS_EXTEND_GPU_H

/* A GPU of an engine, for variants of LACIS_GPU: memory under gpu_memory_limit, copies, and one stream on which
 * everything follows each other. Operators launch kernels there; the engine alone talks to the driver. Nothing of it
 * is loaded or started before lacis_run_gpu is called for the first time (a few tenths of a second).
 *
 * Failures: no memory on the device is NULL or LACIS_LIMIT without a message (take less at a time); a call that
 * failed is LACIS_UNSUPPORTED with its message, which a variant passes on: the engine then takes the next best
 * variant and says so. After lacis_run_gpu the parts and blocks that a variant gets stay until its run is over or it
 * frees them. */
typedef struct lacis_gpu lacis_gpu;
typedef struct lacis_gpu_facts {
    char name[64];
    char driver[32];
    char address[32];                  /* on the PCI bus, as sysfs writes it; "": it is not known */
    int arch;                          /* 90: compute capability 9.0 */
    int processors;                    /* multiprocessors */
    uint64_t memory, budget;           /* bytes on the card; of them for this engine */
    double upload_rate, download_rate; /* bytes a second, of the large copies so far */
} lacis_gpu_facts;
/* Whether asking for the GPU could give one, without touching it; where not, why. */
LACIS_API bool lacis_gpu_possible(const lacis_run *run, char *reason, size_t size);
LACIS_API bool lacis_gpu_started(const lacis_run *run);
/* The GPU, or NULL with the reason. Of several the first that answers. */
LACIS_API lacis_gpu *lacis_run_gpu(lacis_run *run, char *reason, size_t size);
/* The GPUs for work worth sharing, at most LACIS_GPUS: the one of lacis_run_gpu (which was called before) comes
 * first. With SET gpus = n up to n; with auto as many as there are, but those not yet started only where `start` says
 * that the work is worth their start. */
enum { LACIS_GPUS = 16 };
LACIS_API int lacis_run_gpus(lacis_run *run, bool start, lacis_gpu **out);
/* What this thread gives CUDA from here on is for that device. */
LACIS_API lacis_status lacis_gpu_enter(lacis_run *run, lacis_gpu *gpu);
LACIS_API int lacis_gpu_number(const lacis_gpu *gpu);
LACIS_API bool lacis_run_gpus_forced(const lacis_run *run); /* SET gpus = n: whatever the size of the work */
LACIS_API void lacis_gpu_describe(const lacis_gpu *gpu, lacis_gpu_facts *out);
LACIS_API void *lacis_gpu_stream(const lacis_gpu *gpu); /* cudaStream_t */
/* Two more streams for kernels that may run beside each other, and LACIS_GPU_PINNED bytes of pinned host memory for
 * what is read back in between: for one run at a time. NULL where the device has none left. */
enum { LACIS_GPU_PINNED = 4096 };
LACIS_API void lacis_gpu_beside(lacis_gpu *gpu, void **side, void **pinned);
/* Blocks of 256-byte alignment, not cleared, in the stream's order. NULL: no room. */
LACIS_API void *lacis_gpu_alloc(lacis_gpu *gpu, uint64_t bytes);
LACIS_API void lacis_gpu_free(lacis_gpu *gpu, void *block); /* NULL is fine */
LACIS_API uint64_t lacis_gpu_memory_left(lacis_gpu *gpu);   /* what may be dropped counts as left */
/* Memory that kernels take of CUDA itself, where a pool's does not do (CUDA IPC): it counts as if it were alloc's.
 * False: no room. */
LACIS_API bool lacis_gpu_charge(lacis_gpu *gpu, uint64_t bytes);
LACIS_API void lacis_gpu_credit(lacis_gpu *gpu, uint64_t bytes);
/* The host's bytes may change or go after either call; those on the device are there for what follows on the stream.
 */
LACIS_API lacis_status lacis_gpu_upload(lacis_run *run, lacis_gpu *gpu, const void *host, uint64_t bytes,
                                        void *device);
LACIS_API lacis_status lacis_gpu_download(lacis_run *run, lacis_gpu *gpu, const void *device, uint64_t bytes,
                                          void *host);
LACIS_API lacis_status lacis_gpu_wait(lacis_run *run, lacis_gpu *gpu);
/* A part's copy on the device, sent there unless it is there already; it stays for later statements while there is
 * room. *out is NULL where the array has no such part. _missing: the bytes that would have to be sent (gpu NULL:
 * all). */
LACIS_API lacis_status lacis_gpu_part(lacis_run *run, lacis_gpu *gpu, const lacis_array *array, const char *part,
                                      const void **out);
LACIS_API uint64_t lacis_gpu_part_missing(lacis_gpu *gpu, const lacis_array *array, const char *part);
/* Makes `device`, a block that holds the same bytes as the buffer from offset on, the buffer's copy; the block is the
 * engine's from here on. False: it was freed instead. */
LACIS_API bool lacis_gpu_keep(lacis_gpu *gpu, lacis_buffer *buffer, uint64_t offset, uint64_t bytes, void *device);
/* What an operator makes of an array for a device once, such as a plan. It stays beside one of the array's buffers
 * until that goes or changes, or the device needs the room. name (text that lives for ever) and key say what it is:
 * where it is made of several buffers, the others' serials belong into the key. note: what the operator wants to know
 * of it. _made: answers whether there is one of that name and key, and then fills the rest. _keep_made: the device's
 * block is the engine's from here on; false: it was freed instead. */
enum { LACIS_GPU_KEY = 8, LACIS_GPU_NOTE = 24 };
typedef struct lacis_gpu_thing {
    const char *name;
    uint64_t key[LACIS_GPU_KEY];
    uint64_t note[LACIS_GPU_NOTE];
    uint64_t bytes;
    void *device;
} lacis_gpu_thing;
LACIS_API bool lacis_gpu_made(lacis_gpu *gpu, lacis_buffer *buffer, lacis_gpu_thing *thing);
LACIS_API bool lacis_gpu_keep_made(lacis_gpu *gpu, lacis_buffer *buffer, const lacis_gpu_thing *thing);

/* --- before a variant runs: for `can` and `cost`, which start nothing unless the call says ON GPU. */
struct lacis_call;
struct lacis_profile;
#define LACIS_GPU_COPY_FIGURE  "gpu.copy_seconds" /* in the profile: what a copy takes however small */
#define LACIS_GPU_COPY_SECONDS 2e-5               /* that, where nobody has calibrated */
/* The device where it has been started, else NULL. */
LACIS_API lacis_gpu *lacis_gpu_at_hand(lacis_run *run);
/* What starting it would take (0: it is started), the first use of the operator's kernels included, which is
 * load_figure in the profile. */
LACIS_API double lacis_gpu_start_seconds(const lacis_run *run, const struct lacis_profile *profile,
                                         const char *load_figure);
/* Whether the GPU may be asked at all: not where the processor needs less at most than the device at least, starting
 * it besides, unless the call says ON GPU; and whether there is one. Where not, why. */
LACIS_API bool lacis_gpu_worth(const struct lacis_call *call, lacis_run *run, const char *load_figure,
                               double processor, double device, char *reason, size_t size);
/* Seconds for so many bytes up and down; gpu NULL: it is not started. */
LACIS_API double lacis_gpu_copy_seconds(const lacis_gpu *gpu, const struct lacis_profile *profile, double up,
                                        double down);
/* LACIS_UNSUPPORTED: its memory does not hold `what`. */
LACIS_API lacis_status lacis_gpu_no_room(lacis_run *run, lacis_gpu *gpu, const char *what);

/* --- panels
 * --------------------------------------------------------------------------------------------------------- Work in
 * units (rows, lanes), cut into panels that fit the devices and dealt over them. Each device has two lanes, threads
 * that take the next panel, compute it, and hand it over, so that one copies while the other computes. A device that
 * fails is left out, and its panels go to the others.
 *
 * The functions are called by lanes: what they call of lacis_run_ may only be the quiet kind (no _fail, _note,
 * _count, _scratch), and of this header lacis_gpu_alloc, _free, _memory_left, _stream, _broke, _send, _fetch. Their
 * answers:
 * LACIS_LIMIT: no room for so many units (not of place); LACIS_UNSUPPORTED: this device cannot go on; any other code
 * but LACIS_OK ends the work and is what lacis_gpu_panels answers, without a message. */
typedef struct lacis_panel {
    lacis_gpu *gpu;
    int device;           /* which of the GPUs: 0 .. */
    int64_t first, count; /* units */
    int64_t place;        /* what place() says of where the panel's results go */
    void *own;            /* own_bytes of the lane's, zeroed before each panel */
} lacis_panel;
typedef struct lacis_panels {
    int64_t begin, end;
    int64_t together; /* panels that are halved still end at multiples of it where they can; 0: anywhere */
    size_t own_bytes;
    void *context;
    /* How many units from `first` on, before `end`, a panel may take; one at a time. */
    int64_t (*size)(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end);
    /* Alone on its device; its work is on the device's stream when it returns, not necessarily done. */
    lacis_status (*compute)(void *context, lacis_panel *panel);
    /* In the order of units, each panel once, one at a time: results are counted, room for them is taken. */
    lacis_status (*place)(void *context, lacis_panel *panel);
    /* Copies to the host with lacis_gpu_fetch; alone on its device, beside the next panel's compute. */
    lacis_status (*fetch)(void *context, lacis_panel *panel);
    /* Gives back what compute took, whatever came of it. */
    void (*drop)(void *context, lacis_panel *panel);
    const char *verb; /* for progress */
    const char *unit; /* "lane", in messages; NULL: "row" */
    bool single;      /* one lane a device: results are small, so that copies beside computing win nothing */
    /* Next to nothing is copied, by one thread: lanes take the run's own threads, which planning has left awake. New
     * ones would wait for a processor behind those for some milliseconds. */
    bool awake;
    /* How far all of it has come, for progress, asked on the statement's thread; NULL: by the panels that are done.
     */
    double (*fraction)(void *context);
} lacis_panels;
typedef struct lacis_panels_report {
    int64_t panels[LACIS_GPUS];                                            /* by device */
    double seconds, compute_seconds[LACIS_GPUS], copy_seconds[LACIS_GPUS]; /* lanes' time in compute and fetch */
    uint64_t bytes[LACIS_GPUS];                                            /* fetched */
    bool lost[LACIS_GPUS];
} lacis_panels_report;
/* LACIS_UNSUPPORTED, with its message, where no device could go on. One that fails beside others is noted. */
LACIS_API lacis_status lacis_gpu_panels(lacis_run *run, lacis_gpu *const *gpu, int gpus, const lacis_panels *work,
                                        lacis_panels_report *report);
/* Quiet forms for lanes, which answer codes of the above kind: a cudaError_t that came up; a copy to the device, in
 * compute, for what follows on its stream; a copy to the host of what the device's stream has computed so far, beside
 * what is put there later; the host's pages of it are touched by threads. */
LACIS_API lacis_status lacis_gpu_broke(lacis_gpu *gpu, int code);
LACIS_API lacis_status lacis_gpu_send(lacis_run *run, lacis_gpu *gpu, const void *host, uint64_t bytes, void *device);
LACIS_API lacis_status lacis_gpu_fetch(lacis_run *run, lacis_gpu *gpu, const void *device, uint64_t bytes,
                                       void *host);

/* Kernels from CUDA source, by extern "C" names, compiled for this GPU by NVRTC (which is only loaded here) or taken
 * from what was compiled before, in memory or in the database file. kernel[i] is a cudaKernel_t, NULL for a name that
 * the source lacks. Each kernel is a program of its own, compiled with -DLACIS_KERNEL=i besides, all at the same time
 * on the run's threads. LACIS_UNSUPPORTED with the reason: no NVRTC, or its complaint. lacis_gpu_compiles asks
 * beforehand. */
typedef struct lacis_gpu_source {
    const char *const *text; /* one behind the other */
    int texts;
    const char *const *option; /* besides the GPU's architecture and C++17 */
    int options;
    const char *const *kernel;
    int kernels;     /* 32 at most */
    uint32_t wanted; /* bit i: kernel[i]; 0: all. The others are left as they are */
    uint32_t quick;  /* bit i: compiling kernel[i] soon counts for more than its last percents of speed */
} lacis_gpu_source;
LACIS_API bool lacis_gpu_compiles(char *reason, size_t size);
/* Whether any kernel of the source was compiled before, in memory or in the database file. */
LACIS_API bool lacis_gpu_compiled(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source);
LACIS_API lacis_status lacis_gpu_compile(lacis_run *run, lacis_gpu *gpu, const lacis_gpu_source *source,
                                         void **kernel);
/* For a cudaError_t that came from elsewhere than these calls: LACIS_UNSUPPORTED with its message; the device is not
 * used again where it does not answer any more. */
LACIS_API lacis_status lacis_gpu_failed(lacis_run *run, lacis_gpu *gpu, int code);

#endif
