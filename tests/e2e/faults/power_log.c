/* Preloaded (LD_PRELOAD) into all processes of a run: logs, in one order, what they change below a folder.

   PARALOOM_POWER_ROOT: that folder, without links. PARALOOM_POWER_LOG: the log, an empty file at first.
   PARALOOM_POWER_LOCK: a file of zeros, 4096 bytes, that all processes share.

   Each operation and its record are one step under one lock, so the log has the order that the file system saw. An fsync
   is logged and not done. A record is a header (see `struct head`), the paths and the data. */

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

struct head {
    uint32_t kind, first, second, spare; /* a letter; lengths of the two paths */
    int64_t offset, modified, length;    /* of the data; nanoseconds; bytes of data */
};

struct shared {
    uint32_t state; /* 0: new, 1: being made, 2: ready */
    pthread_mutex_t mutex;
};

static struct shared *shared;
static int log_file = -1;
static char root[PATH_MAX];
static size_t root_length;

__attribute__((constructor)) static void begin(void)
{
    const char *folder = getenv("PARALOOM_POWER_ROOT"), *log = getenv("PARALOOM_POWER_LOG"),
               *lock = getenv("PARALOOM_POWER_LOCK");
    if (!folder || !log || !lock)
        return;
    int file = syscall(SYS_openat, AT_FDCWD, lock, O_RDWR | O_CLOEXEC, 0);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    syscall(SYS_close, file);
    /* A high number: programs close or take the low ones. */
    file = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_APPEND | O_CLOEXEC, 0);
    log_file = fcntl(file, F_DUPFD_CLOEXEC, 700);
    syscall(SYS_close, file);
    if (shared == MAP_FAILED || log_file < 0)
        abort();
    uint32_t none = 0;
    if (__atomic_compare_exchange_n(&shared->state, &none, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
        pthread_mutexattr_t kind;
        pthread_mutexattr_init(&kind);
        pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
        pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
        pthread_mutex_init(&shared->mutex, &kind);
        __atomic_store_n(&shared->state, 2, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&shared->state, __ATOMIC_SEQ_CST) != 2)
        usleep(100);
    strncpy(root, folder, sizeof root - 1);
    root_length = strlen(root);
}

static void lock(void)
{
    if (pthread_mutex_lock(&shared->mutex) == EOWNERDEAD)
        pthread_mutex_consistent(&shared->mutex);
}

static void unlock(void)
{
    int error = errno;
    pthread_mutex_unlock(&shared->mutex);
    errno = error;
}

static int below(const char *path)
{
    return root_length && !strncmp(path, root, root_length) &&
           (path[root_length] == '/' || path[root_length] == 0);
}

/* The path of an open file, if it is below the root. */
static int path_of(int file, char *path)
{
    char link[40];
    if (log_file < 0 || file < 0)
        return 0;
    int error = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
    errno = error;
    if (n <= 0)
        return 0;
    path[n] = 0;
    return below(path) && !(n > 10 && !strcmp(path + n - 10, " (deleted)"));
}

/* The path that a name in a folder means; the last part is not followed. */
static int path_at(int folder, const char *name, char *path)
{
    char whole[PATH_MAX], real[PATH_MAX];
    if (log_file < 0 || !name || !*name)
        return 0;
    int error = errno;
    if (name[0] == '/')
        snprintf(whole, sizeof whole, "%s", name);
    else {
        char link[40], base[PATH_MAX];
        if (folder == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/self/cwd");
        else
            snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        ssize_t n = syscall(SYS_readlinkat, AT_FDCWD, link, base, PATH_MAX - 1);
        base[n > 0 ? n : 0] = 0;
        if (snprintf(whole, sizeof whole, "%s/%s", base, name) >= (int)sizeof whole)
            whole[0] = 0;
    }
    size_t n = strlen(whole);
    while (n > 1 && whole[n - 1] == '/')
        whole[--n] = 0;
    char *slash = strrchr(whole, '/');
    int known = 0;
    if (slash) {
        const char *last = slash + 1;
        *slash = 0;
        if (realpath(*whole ? whole : "/", real)) {
            known = snprintf(path, PATH_MAX, "%s/%s", real, last) < PATH_MAX;
        }
    }
    errno = error;
    return known && below(path);
}

static void put(const void *data, size_t length)
{
    while (length) {
        ssize_t n = syscall(SYS_write, log_file, data, length);
        if (n <= 0)
            abort();
        data = (const char *)data + n;
        length -= n;
    }
}

static void record(char kind, const char *first, const char *second, int64_t offset, int64_t modified,
                   const void *data, size_t length)
{
    int error = errno;
    struct head head = {kind, strlen(first), second ? strlen(second) : 0, 0, offset, modified, length};
    put(&head, sizeof head);
    put(first, head.first);
    put(second ? second : "", head.second);
    if (length)
        put(data, length);
    errno = error;
}

static int64_t modified(const char *path)
{
    struct stat found;
    int error = errno, failed = fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW);
    errno = error;
    return failed ? 0 : found.st_mtim.tv_sec * 1000000000LL + found.st_mtim.tv_nsec;
}

#define REAL(name)                                     \
    static __typeof__(&name) real;                     \
    if (!real)                                         \
        real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* --- writing --- */

static void wrote(int file, const char *path, int64_t offset, const struct iovec *parts, int count, ssize_t n)
{
    char *all = malloc(n ? n : 1);
    size_t done = 0;
    for (int i = 0; i < count && done < (size_t)n; i++) {
        size_t some = parts[i].iov_len < n - done ? parts[i].iov_len : n - done;
        memcpy(all + done, parts[i].iov_base, some);
        done += some;
    }
    if (offset < 0)
        offset = lseek(file, 0, SEEK_CUR) - n;
    record('w', path, NULL, offset, modified(path), all, n);
    free(all);
}

#define WRITE(call, file, offset, parts, count)        \
    char path[PATH_MAX];                               \
    if (!path_of(file, path))                          \
        return call;                                   \
    lock();                                            \
    ssize_t n = call;                                  \
    if (n > 0)                                         \
        wrote(file, path, offset, parts, count, n);    \
    unlock();                                          \
    return n

ssize_t write(int file, const void *data, size_t length)
{
    REAL(write);
    struct iovec part = {(void *)data, length};
    WRITE(real(file, data, length), file, -1, &part, 1);
}

ssize_t pwrite(int file, const void *data, size_t length, off_t offset)
{
    REAL(pwrite);
    struct iovec part = {(void *)data, length};
    WRITE(real(file, data, length, offset), file, offset, &part, 1);
}

ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset)
{
    return pwrite(file, data, length, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
    REAL(writev);
    WRITE(real(file, parts, count), file, -1, parts, count);
}

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset)
{
    REAL(pwritev);
    WRITE(real(file, parts, count, offset), file, offset, parts, count);
}

ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset)
{
    return pwritev(file, parts, count, offset);
}

/* All bytes of a file as they are: for what was written inside the C library or the kernel. */
static void whole(int file, const char *path)
{
    struct stat found;
    char again[PATH_MAX];
    snprintf(again, sizeof again, "/proc/self/fd/%d", file);
    int reader = syscall(SYS_openat, AT_FDCWD, again, O_RDONLY | O_CLOEXEC, 0);
    if (reader < 0 || fstat(reader, &found) || !S_ISREG(found.st_mode)) {
        if (reader >= 0)
            syscall(SYS_close, reader);
        return;
    }
    char *all = malloc(found.st_size ? found.st_size : 1);
    ssize_t n = syscall(SYS_pread64, reader, all, found.st_size, 0);
    syscall(SYS_close, reader);
    record('c', path, NULL, 0, modified(path), all, n > 0 ? n : 0);
    free(all);
}

#define COPY(call, file)                               \
    char path[PATH_MAX];                               \
    if (!path_of(file, path))                          \
        return call;                                   \
    lock();                                            \
    ssize_t n = call;                                  \
    if (n > 0)                                         \
        whole(file, path);                             \
    unlock();                                          \
    return n

ssize_t sendfile(int out, int in, off_t *offset, size_t count)
{
    REAL(sendfile);
    COPY(real(out, in, offset, count), out);
}

ssize_t sendfile64(int out, int in, off64_t *offset, size_t count)
{
    return sendfile(out, in, (off_t *)offset, count);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t length, unsigned flags)
{
    REAL(copy_file_range);
    COPY(real(in, from, out, to, length, flags), out);
}

/* Streams of the C library write without its public `write`. */
static int flushed(FILE *stream, int (*call)(FILE *), int closes)
{
    char path[PATH_MAX], after[PATH_MAX];
    int file = stream ? fileno(stream) : -1;
    if (!path_of(file, path) || (fcntl(file, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return call(stream);
    lock();
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 800), result = call(stream);
    if (path_of(copy, after))
        whole(copy, after);
    syscall(SYS_close, copy);
    unlock();
    (void)closes;
    return result;
}

int fclose(FILE *stream)
{
    REAL(fclose);
    return flushed(stream, real, 1);
}

int fflush(FILE *stream)
{
    REAL(fflush);
    return flushed(stream, real, 0);
}

int ftruncate(int file, off_t length)
{
    REAL(ftruncate);
    char path[PATH_MAX];
    if (!path_of(file, path))
        return real(file, length);
    lock();
    int result = real(file, length);
    if (!result)
        record('t', path, NULL, length, modified(path), NULL, 0);
    unlock();
    return result;
}

int ftruncate64(int file, off64_t length)
{
    return ftruncate(file, length);
}

/* --- opening --- */

static int opened(int folder, const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    int makes = (flags & O_ACCMODE) != O_RDONLY && (flags & (O_CREAT | O_TRUNC)) && (flags & O_TMPFILE) != O_TMPFILE;
    if (!makes || log_file < 0)
        return syscall(SYS_openat, folder, name, flags, mode);
    lock();
    int file = syscall(SYS_openat, folder, name, flags, mode);
    if (path_of(file, path))
        record(flags & O_TRUNC ? 'T' : 'o', path, NULL, 0, modified(path), NULL, 0);
    unlock();
    return file;
}

#define OPEN(folder)                                   \
    mode_t mode = 0;                                   \
    if (flags & (O_CREAT | O_TMPFILE)) {               \
        va_list more;                                  \
        va_start(more, flags);                         \
        mode = va_arg(more, int);                      \
        va_end(more);                                  \
    }                                                  \
    return opened(folder, name, flags, mode)

int open(const char *name, int flags, ...) { OPEN(AT_FDCWD); }
int open64(const char *name, int flags, ...) { OPEN(AT_FDCWD); }
int openat(int folder, const char *name, int flags, ...) { OPEN(folder); }
int openat64(int folder, const char *name, int flags, ...) { OPEN(folder); }
int creat(const char *name, mode_t mode) { return opened(AT_FDCWD, name, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *name, mode_t mode) { return creat(name, mode); }

static FILE *stream(const char *name, const char *how, FILE *(*call)(const char *, const char *))
{
    char path[PATH_MAX];
    if (log_file < 0 || how[0] == 'r')
        return call(name, how);
    lock();
    FILE *result = call(name, how);
    if (result && path_of(fileno(result), path))
        record(how[0] == 'w' ? 'T' : 'o', path, NULL, 0, modified(path), NULL, 0);
    unlock();
    return result;
}

FILE *fopen(const char *name, const char *how)
{
    REAL(fopen);
    return stream(name, how, real);
}

FILE *fopen64(const char *name, const char *how)
{
    REAL(fopen64);
    return stream(name, how, real);
}

/* --- making durable --- */

int fsync(int file)
{
    REAL(fsync);
    char path[PATH_MAX];
    if (!path_of(file, path))
        return real(file);
    lock();
    record('s', path, NULL, 0, modified(path), NULL, 0);
    unlock();
    return 0;
}

int fdatasync(int file) { return fsync(file); }

/* --- names --- */

int renameat2(int from, const char *name, int to, const char *other, unsigned flags)
{
    char path[PATH_MAX], target[PATH_MAX];
    int known = path_at(from, name, path), wanted = path_at(to, other, target);
    if (!known && !wanted)
        return syscall(SYS_renameat2, from, name, to, other, flags);
    lock();
    int result = syscall(SYS_renameat2, from, name, to, other, flags);
    if (!result)
        record('r', known ? path : "", wanted ? target : "", flags, 0, NULL, 0);
    unlock();
    return result;
}

int rename(const char *name, const char *other) { return renameat2(AT_FDCWD, name, AT_FDCWD, other, 0); }
int renameat(int from, const char *name, int to, const char *other) { return renameat2(from, name, to, other, 0); }

#define CHANGE(kind, folder, name, call)               \
    char path[PATH_MAX];                               \
    if (!path_at(folder, name, path))                  \
        return call;                                   \
    lock();                                            \
    int result = call;                                 \
    if (!result)                                       \
        record(kind, path, NULL, 0, modified(path), NULL, 0); \
    unlock();                                          \
    return result

int unlinkat(int folder, const char *name, int flags)
{
    CHANGE('u', folder, name, syscall(SYS_unlinkat, folder, name, flags));
}

int unlink(const char *name) { return unlinkat(AT_FDCWD, name, 0); }
int rmdir(const char *name) { return unlinkat(AT_FDCWD, name, AT_REMOVEDIR); }

int remove(const char *name)
{
    int result = unlink(name);
    return result && (errno == EISDIR || errno == EPERM) ? rmdir(name) : result;
}

int mkdirat(int folder, const char *name, mode_t mode)
{
    CHANGE('d', folder, name, syscall(SYS_mkdirat, folder, name, mode));
}

int mkdir(const char *name, mode_t mode) { return mkdirat(AT_FDCWD, name, mode); }

int symlinkat(const char *target, int folder, const char *name)
{
    char path[PATH_MAX];
    if (!path_at(folder, name, path))
        return syscall(SYS_symlinkat, target, folder, name);
    lock();
    int result = syscall(SYS_symlinkat, target, folder, name);
    if (!result)
        record('l', path, target, 0, modified(path), NULL, 0);
    unlock();
    return result;
}

int symlink(const char *target, const char *name) { return symlinkat(target, AT_FDCWD, name); }

int linkat(int from, const char *name, int to, const char *other, int flags)
{
    char path[PATH_MAX], target[PATH_MAX];
    if (!path_at(from, name, path) || !path_at(to, other, target))
        return syscall(SYS_linkat, from, name, to, other, flags);
    lock();
    int result = syscall(SYS_linkat, from, name, to, other, flags);
    if (!result)
        record('h', path, target, 0, 0, NULL, 0);
    unlock();
    return result;
}

int link(const char *name, const char *other) { return linkat(AT_FDCWD, name, AT_FDCWD, other, 0); }

/* --- times --- */

int futimens(int file, const struct timespec times[2])
{
    REAL(futimens);
    char path[PATH_MAX];
    if (!path_of(file, path))
        return real(file, times);
    lock();
    int result = real(file, times);
    if (!result)
        record('m', path, NULL, 0, modified(path), NULL, 0);
    unlock();
    return result;
}

int utimensat(int folder, const char *name, const struct timespec times[2], int flags)
{
    REAL(utimensat);
    CHANGE('m', folder, name, real(folder, name, times, flags));
}

int utimes(const char *name, const struct timeval times[2])
{
    REAL(utimes);
    CHANGE('m', AT_FDCWD, name, real(name, times));
}
