/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's GPU layer over a pretended device: reasons where there is none, copies, what stays there and what
 * makes room, budgets, and every call failing in turn.
 */
#include "support/db.h"
#include "support/gpu.h"

static lacis_host host;
static lacis_run run;

static const uint64_t MB = 1000000;

static int setup(void **state)
{
    (void)state;
    fake_install(100 * MB);
    assert_int_equal(lacis_host_init(&host), LACIS_OK);
    lacis_run_init(&run, &host);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lacis_run_clear(&run);
    lacis_gpu_release(host.gpu);
    host.gpu = NULL;
    assert_int_equal(lacis_memory_used(host.memory), 0);
    lacis_host_clear(&host);
    fake_remove();
    return 0;
}

static lacis_gpu *gpu_now(void)
{
    char reason[200];
    lacis_gpu *gpu = lacis_run_gpu(&run, reason, sizeof reason);
    assert_non_null(gpu);
    return gpu;
}

/* A vector of n numbers, seed, seed + 1 ... */
static lacis_array *vector(int64_t n, int64_t seed)
{
    lacis_buffer *buffer;
    lacis_array *array;
    assert_int_equal(lacis_buffer_new(&run, sizeof(int64_t) * (uint64_t)n, &buffer), LACIS_OK);
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)lacis_buffer_data(buffer))[i] = seed + i;
    assert_int_equal(lacis_array_new(&run, LACIS_VECTOR, LACIS_I64, n, 0, &array), LACIS_OK);
    assert_int_equal(lacis_array_add(&run, array, "values", LACIS_I64, n, buffer, 0), LACIS_OK);
    lacis_buffer_release(buffer);
    return array;
}

static void test_absent(void **state)
{
    (void)state;
    char reason[200] = "";
    fake.absent = true;
    assert_false(lacis_gpu_possible(&run, reason, sizeof reason));
    assert_int_equal(fake.calls, 0); /* looking touches nothing */
    assert_null(lacis_run_gpu(&run, reason, sizeof reason));
    assert_string_equal(reason, "there is no GPU in this test");
    assert_false(lacis_gpu_started(&run));
    assert_int_equal(fake.calls, 0);
}

static void test_no_device(void **state)
{
    (void)state;
    char reason[200] = "";
    fake.devices = 0;
    assert_true(lacis_gpu_possible(&run, reason, sizeof reason));
    assert_null(lacis_run_gpu(&run, reason, sizeof reason));
    assert_non_null(strstr(reason, "shows no GPU"));
    assert_false(lacis_gpu_possible(&run, reason, sizeof reason)); /* known from here on */
}

/* A failing start is a reason, and leaves nothing behind. */
static void test_start_fails(void **state)
{
    (void)state;
    for (int nth = 1; nth <= 5; nth++) {
        char reason[200] = "";
        fake_fail(nth, false);
        assert_null(lacis_run_gpu(&run, reason, sizeof reason));
        assert_non_null(strstr(reason, "cannot be used"));
        lacis_gpu_release(host.gpu);
        host.gpu = NULL;
        assert_int_equal(fake.others, 0);
    }
    fake_fail(0, false);
    gpu_now();
}

static void test_copies(void **state)
{
    (void)state;
    const uint64_t sizes[] = {1, 1000, 2 << 20, (2 << 20) + 1, 8 << 20, (8 << 20) + 3, 30000001, 60000001};
    const int threads[] = {1, 2, 7, 40}; /* one alone; more than move slices */
    lacis_gpu *gpu = gpu_now();
    for (int i = 0; i < LACIS_COUNT(sizes) * LACIS_COUNT(threads); i++) {
        uint64_t n = sizes[i / LACIS_COUNT(threads)];
        host.threads = threads[i % LACIS_COUNT(threads)];
        unsigned char *from = malloc(n), *to = calloc(n, 1);
        for (uint64_t j = 0; j < n; j++)
            from[j] = (unsigned char)(j * 7 + j / 1000);
        void *device = lacis_gpu_alloc(gpu, n);
        assert_non_null(device);
        assert_int_equal(lacis_gpu_upload(&run, gpu, from, n, device), LACIS_OK);
        assert_memory_equal(from, device, n);
        assert_int_equal(lacis_gpu_download(&run, gpu, device, n, to), LACIS_OK);
        assert_memory_equal(from, to, n);
        memset(to, 0, n);
        assert_int_equal(lacis_device_follow(gpu), 0); /* as in a lane of panels */
        assert_int_equal(lacis_gpu_fetch(&run, gpu, device, n, to), LACIS_OK);
        assert_memory_equal(from, to, n);
        lacis_gpu_free(gpu, device);
        free(from);
        free(to);
    }
    assert_int_equal(fake.used[0], 0);
}

static void test_parts_stay(void **state)
{
    (void)state;
    lacis_gpu *gpu = gpu_now();
    lacis_array *a = vector(1000, 5);
    const void *first, *second;
    assert_int_equal(lacis_gpu_part_missing(gpu, a, "values"), 8000);
    assert_int_equal(lacis_gpu_part(&run, gpu, a, "values", &first), LACIS_OK);
    assert_int_equal(((const int64_t *)first)[999], 1004);
    assert_int_equal(fake.sent, 8000);
    gpu = gpu_now();
    assert_int_equal(lacis_gpu_part_missing(gpu, a, "values"), 0);
    assert_int_equal(lacis_gpu_part(&run, gpu, a, "values", &second), LACIS_OK);
    assert_ptr_equal(first, second);
    assert_int_equal(fake.sent, 8000); /* not again */
    assert_int_equal(lacis_gpu_part(&run, gpu, a, "index", &second), LACIS_OK);
    assert_null(second);
    lacis_array_release(a);
    assert_int_equal(fake.blocks, 0); /* gone with its buffer */
}

/* What kernels take of CUDA itself counts, and copies that nobody uses make room for it. */
static void test_charge(void **state)
{
    (void)state;
    const void *device;
    lacis_array *a = vector(1000000, 0);
    lacis_device_set_limit(&host, 12 * MB);
    assert_int_equal(lacis_gpu_part(&run, gpu_now(), a, "values", &device), LACIS_OK);
    lacis_gpu *gpu = gpu_now(); /* another turn */
    assert_true(lacis_gpu_charge(gpu, 11 * MB));
    assert_int_equal(lacis_gpu_part_missing(gpu, a, "values"), 8000000);
    assert_int_equal(lacis_gpu_memory_left(gpu), 1 * MB);
    assert_null(lacis_gpu_alloc(gpu, 2 * MB));
    assert_false(lacis_gpu_charge(gpu, 2 * MB));
    lacis_gpu_credit(gpu, 11 * MB);
    assert_int_equal(lacis_gpu_memory_left(gpu), 12 * MB);
    lacis_array_release(a);
    assert_int_equal(fake.used[0], 0);
}

/* Parts unused for longest make room; those of the present turn do not. */
static void test_room(void **state)
{
    (void)state;
    const void *device;
    lacis_array *a = vector(1000000, 0), *b = vector(1000000, 1), *c = vector(1000000, 2);
    lacis_device_set_limit(&host, 17 * MB);
    assert_int_equal(lacis_gpu_part(&run, gpu_now(), a, "values", &device), LACIS_OK);
    assert_int_equal(lacis_gpu_part(&run, gpu_now(), b, "values", &device), LACIS_OK);
    assert_int_equal(lacis_gpu_part(&run, gpu_now(), a, "values", &device), LACIS_OK);
    lacis_gpu *gpu = gpu_now();
    assert_in_range(lacis_gpu_memory_left(gpu), 16 * MB, 17 * MB);
    assert_int_equal(lacis_gpu_part(&run, gpu, c, "values", &device), LACIS_OK);
    assert_int_equal(lacis_gpu_part_missing(gpu, a, "values"), 0);
    assert_int_equal(lacis_gpu_part_missing(gpu, b, "values"), 8000000);
    assert_int_equal(lacis_gpu_part(&run, gpu, a, "values", &device), LACIS_OK);
    assert_int_equal(lacis_gpu_part(&run, gpu, b, "values", &device), LACIS_LIMIT);
    assert_null(lacis_gpu_alloc(gpu, 2 * MB));
    lacis_array_release(a);
    lacis_array_release(b);
    lacis_array_release(c);
    assert_int_equal(fake.used[0], 0);
}

/* The card is full before the budget is: what stayed goes. */
static void test_card_full(void **state)
{
    (void)state;
    const void *device;
    lacis_array *a = vector(1000000, 0);
    assert_int_equal(lacis_gpu_part(&run, gpu_now(), a, "values", &device), LACIS_OK);
    fake.memory = 9 * MB;
    lacis_gpu *gpu = gpu_now();
    void *block = lacis_gpu_alloc(gpu, 5 * MB);
    assert_non_null(block);
    assert_int_equal(lacis_gpu_part_missing(gpu, a, "values"), 8000000);
    assert_null(lacis_gpu_alloc(gpu, 5 * MB));
    lacis_gpu_free(gpu, block);
    assert_true(lacis_gpu_started(&run)); /* being full is no failure */
    lacis_array_release(a);
}

static void test_keep(void **state)
{
    (void)state;
    lacis_gpu *gpu = gpu_now();
    lacis_array *a = vector(100, 0);
    void *device = lacis_gpu_alloc(gpu, 800);
    assert_true(lacis_gpu_keep(gpu, lacis_array_part_buffer(a, "values", NULL), 0, 800, device));
    assert_int_equal(lacis_gpu_part_missing(gpu, a, "values"), 0);
    lacis_array_release(a);
    assert_int_equal(fake.used[0], 0);
}

/* Arrays outlive engines, and so do their copies. */
static void test_array_outlives(void **state)
{
    (void)state;
    const void *device;
    lacis_host other;
    lacis_run there;
    lacis_array *a;
    assert_int_equal(lacis_host_init(&other), LACIS_OK);
    lacis_run_init(&there, &other);
    lacis_run mine = run;
    run = there;
    a = vector(1000, 0);
    assert_int_equal(lacis_gpu_part(&run, gpu_now(), a, "values", &device), LACIS_OK);
    lacis_run_clear(&run);
    run = mine;
    lacis_host_clear(&other);
    assert_int_equal(fake.blocks, 1);
    lacis_array_release(a);
    assert_int_equal(fake.blocks, 0);
    assert_int_equal(fake.others, 0);
}

/* Call after call fails: a code with a message or a way round, and nothing is left behind. */
static void every_call_fails(bool lost)
{
    bool good = false;
    for (int nth = 1; !good && nth < 400; nth++) {
        const void *device;
        char reason[200];
        unsigned char *back = malloc(20 * MB);
        lacis_array *a = vector(2500000, 3);
        lacis_gpu *gpu = gpu_now(); /* started well: test_start_fails has the rest */
        fake_fail(nth, lost);
        lacis_status status = lacis_gpu_part(&run, gpu, a, "values", &device);
        if (status == LACIS_OK) status = lacis_gpu_download(&run, gpu, device, 20 * MB, back);
        good = fake.fails == 0;
        if (good) assert_int_equal(status, LACIS_OK);
        if (status == LACIS_UNSUPPORTED) assert_non_null(strstr(host.error.message, "Pretended 0"));
        if (!lost) fake_fail(0, false);
        bool usable = lacis_run_gpu(&run, reason, sizeof reason) != NULL;
        if (!good) assert_int_equal(usable, !lost);
        if (!usable) assert_non_null(strstr(reason, "lost"));
        fake_fail(0, false);
        lacis_array_release(a);
        lacis_gpu_release(host.gpu);
        host.gpu = NULL;
        free(back);
        assert_int_equal(fake.others, 0);
        assert_int_equal(fake.blocks, 0);
    }
    assert_true(good);
}

static void test_calls_fail(void **state)
{
    (void)state;
    every_call_fails(false);
}

static void test_device_lost(void **state)
{
    (void)state;
    every_call_fails(true);
}

static void test_show_devices(void **state)
{
    (void)state;
    lacis_engine *engine = db_open(NULL);
    char *rows = db_rows(engine, "SHOW DEVICES");
    assert_non_null(strstr(rows, "GPU 0,Pretended 0,NULL,90000000,100000000,CUDA 0.0,ready\n"));
    free(rows);
    db_run(engine, "SET gpu_memory_limit = '20MB'");
    rows = db_rows(engine, "SHOW DEVICES");
    assert_non_null(strstr(rows, "GPU 0,Pretended 0,NULL,20000000,100000000,CUDA 0.0,ready\n"));
    free(rows);
    db_fails(engine, "SET gpu_memory_limit = 'much'", LACIS_RANGE, "gpu_memory_limit takes");
    lacis_close(engine);
}

/* A part's copies on two devices, and both go with it. */
static void test_two_devices(void **state)
{
    (void)state;
    lacis_gpu *gpu[LACIS_GPUS];
    const void *first, *second;
    fake.devices = 2;
    gpu_now();
    assert_int_equal(lacis_run_gpus(&run, false, gpu), 1); /* not worth starting another */
    assert_int_equal(lacis_run_gpus(&run, true, gpu), 2);
    assert_int_equal(lacis_run_gpus(&run, false, gpu), 2);
    lacis_array *a = vector(1000, 5);
    assert_int_equal(lacis_gpu_part(&run, gpu[0], a, "values", &first), LACIS_OK);
    assert_int_equal(lacis_gpu_part_missing(gpu[1], a, "values"), 8000);
    assert_int_equal(lacis_gpu_enter(&run, gpu[1]), LACIS_OK);
    assert_int_equal(lacis_gpu_part(&run, gpu[1], a, "values", &second), LACIS_OK);
    assert_ptr_not_equal(first, second);
    assert_int_equal(((const int64_t *)second)[999], 1004);
    assert_int_equal(lacis_gpu_part_missing(gpu[0], a, "values") + lacis_gpu_part_missing(gpu[1], a, "values"), 0);
    assert_true(fake.used[0] > 0 && fake.used[1] > 0);
    lacis_device_set_limit(&host, 20 * MB);
    assert_in_range(lacis_gpu_memory_left(gpu[1]), 19 * MB, 20 * MB);
    lacis_array_release(a);
    assert_int_equal(fake.used[0] + fake.used[1], 0);
    host.gpus = 1;
    assert_int_equal(lacis_run_gpus(&run, true, gpu), 1);
}

/* The first is lost: the second one takes its place. */
static void test_first_lost(void **state)
{
    (void)state;
    lacis_gpu *gpu[LACIS_GPUS], *before = gpu_now();
    char reason[200];
    fake.devices = 2;
    assert_int_equal(lacis_run_gpus(&run, true, gpu), 2);
    fake.broken = 1;
    assert_int_equal(lacis_gpu_wait(&run, before), LACIS_UNSUPPORTED);
    assert_ptr_equal(gpu_now(), gpu[1]);
    assert_true(lacis_gpu_possible(&run, reason, sizeof reason));
    fake.broken = 0;
}

static void test_ranks(void **state)
{
    (void)state;
    lacis_gpu *gpu[LACIS_GPUS];
    fake.devices = 3;
    lacis_device_set_rank(&host, 1, 2); /* of devices 0, 1, 2 the second process has 1 */
    assert_int_equal(gpu_now()->device, 1);
    assert_int_equal(lacis_run_gpus(&run, true, gpu), 1);
    lacis_gpu_release(host.gpu);
    host.gpu = NULL;
    lacis_device_set_rank(&host, 0, 2);
    gpu_now();
    assert_int_equal(lacis_run_gpus(&run, true, gpu), 2);
    assert_int_equal(gpu[1]->device, 2);
    lacis_gpu_release(host.gpu);
    host.gpu = NULL;
    lacis_device_set_rank(&host, 4, 8); /* more processes than devices */
    assert_int_equal(gpu_now()->device, 1);
}

static void test_show_none(void **state)
{
    (void)state;
    fake.absent = true;
    lacis_engine *engine = db_open(NULL);
    char *rows = db_rows(engine, "SHOW DEVICES");
    assert_non_null(strstr(rows, "GPU,NULL,NULL,NULL,NULL,NULL,there is no GPU in this test\n"));
    free(rows);
    lacis_close(engine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(test_absent),       CHECK(test_no_device),      CHECK(test_start_fails), CHECK(test_copies),
        CHECK(test_parts_stay),   CHECK(test_room),           CHECK(test_charge),      CHECK(test_card_full),
        CHECK(test_keep),         CHECK(test_array_outlives), CHECK(test_calls_fail),  CHECK(test_device_lost),
        CHECK(test_show_devices), CHECK(test_show_none),      CHECK(test_two_devices), CHECK(test_first_lost),
        CHECK(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
