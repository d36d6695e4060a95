/* Preloaded into a process: adds an offset to its clock, and a delay to each fsync.
 *
 * Both are read, at every call, from a file of two 64-bit numbers that FAULTS_FILE names: nanoseconds
 * that the time of day is ahead, and microseconds that a sync takes longer. The monotonic clock stays
 * as it is, as it does when somebody sets a machine's time. A forked process that has another file calls
 * read_faults_file again.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

struct settings {
    volatile int64_t ahead_ns;
    volatile int64_t sync_us;
};

static struct settings none;
static struct settings *settings = &none;

__attribute__((constructor)) void read_faults_file(void) {
    const char *name = getenv("FAULTS_FILE");
    int file = name ? open(name, O_RDONLY) : -1;
    if (file < 0)
        return;
    void *mapped = mmap(NULL, sizeof(struct settings), PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED)
        settings = mapped;
    close(file);
}

static void *next(const char *name) { return dlsym(RTLD_NEXT, name); }

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = next("clock_gettime");
    int result = real(clock, now);
    if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
        int64_t total = now->tv_sec * SECOND + now->tv_nsec + settings->ahead_ns;
        now->tv_sec = total / SECOND;
        now->tv_nsec = total % SECOND;
    }
    return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
    struct timespec precise;
    (void)zone;
    int result = clock_gettime(CLOCK_REALTIME, &precise);
    now->tv_sec = precise.tv_sec;
    now->tv_usec = precise.tv_nsec / 1000;
    return result;
}

time_t time(time_t *where) {
    struct timespec precise;
    clock_gettime(CLOCK_REALTIME, &precise);
    if (where)
        *where = precise.tv_sec;
    return precise.tv_sec;
}

static int delayed(int (*real)(int), int file) {
    if (settings->sync_us > 0)
        usleep(settings->sync_us);
    return real(file);
}

int fsync(int file) {
    static int (*real)(int);
    if (!real)
        real = next("fsync");
    return delayed(real, file);
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real)
        real = next("fdatasync");
    return delayed(real, file);
}
