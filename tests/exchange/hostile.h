/* What a unit does that wishes no good; its guid names it. */

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static char wish[64];

static int is(const char *name) { return strcmp(wish, name) == 0; }

static void wait_for_ever(void)
{
    for (;;)
        sleep(1000);
}

/* a text to every file that is open, so also to the host's answers */
static void tell_all(const char *text)
{
    for (int handle = 3; handle < 64; ++handle)
        if (fcntl(handle, F_GETFL) >= 0 && (fcntl(handle, F_GETFL) & O_ACCMODE) != O_RDONLY)
            (void)!write(handle, text, strlen(text));
}

static void tell_much(size_t count, char letter)
{
    char *text = malloc(count + 1);
    memset(text, letter, count);
    text[count] = 0;
    tell_all(text);
    free(text);
}

/* a process that nobody waits for: of a session of its own, its parent gone, without our files */
static void start_daemon(int closes)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            if (closes)
                for (int handle = 0; handle < 64; ++handle)
                    close(handle);
            wait_for_ever();
        }
        _exit(0);
    }
}

/* processes that end after a millisecond, each after having started the next */
static void start_relay(void)
{
    if (fork())
        return;
    for (;;) {
        setsid();
        usleep(1000);
        if (fork())
            _exit(0);
    }
}

static void *wait_in_thread(void *nothing)
{
    wait_for_ever();
    return nothing;
}

static void fill_folder(void)
{
    char name[32];
    for (int k = 0; k < 300; ++k) {
        snprintf(name, sizeof name, "file_%d", k);
        close(open(name, O_CREAT | O_WRONLY, 0600));
    }
}

static void go_deep(void)
{
    static int was_there = 0;
    for (int k = 0; k < 1200 && !was_there; ++k)
        if (mkdir("deep_folder", 0700) || chdir("deep_folder"))
            return;
    was_there = 1;
}

static void lock_folder(void)
{
    mkdir("locked", 0700);
    close(open("locked/file", O_CREAT | O_WRONLY, 0600));
    chmod("locked", 0);
}

static void write_without_end(void)
{
    int handle = open("large", O_CREAT | O_WRONLY, 0600);
    if (ftruncate(handle, 400 << 20))
        return;
    lseek(handle, 0, SEEK_END);
    char *text = calloc(1, 1 << 20);
    for (int k = 0; k < 200; ++k)
        if (write(handle, text, 1 << 20) < 0)
            return;
}

/* 1 where a file elsewhere can be made */
static double write_elsewhere(void)
{
    const char *place = getenv("ELSEWHERE");
    int handle = place ? open(place, O_CREAT | O_WRONLY, 0600) : -1;
    if (handle < 0)
        return 0.0;
    close(handle);
    return 1.0;
}

/* gigabytes that can be had */
static double take_memory(void)
{
    double found = 0.0;
    for (; found < 64.0; found += 0.25)
        if (mmap(0, 1 << 28, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            break;
    return found;
}

static double open_files(void)
{
    double found = 0.0;
    while (found < 5000.0 && open("/dev/null", O_RDONLY) >= 0)
        found += 1.0;
    return found;
}

static void instantiate(const char *guid)
{
    strncpy(wish, guid, sizeof wish - 1);
    if (is("sleep at the start"))
        wait_for_ever();
    if (is("crash at the start"))
        abort();
    if (is("daemon at the start, then sleep")) {
        start_daemon(0);
        wait_for_ever();
    }
}

static void do_wish(double *output)
{
    pthread_t thread;
    char byte;
    *output = 1.0;
    if (is("loop")) for (volatile int k = 0;; ++k) ;
    if (is("sleep")) wait_for_ever();
    if (is("abort")) abort();
    if (is("fault")) *(volatile int *)8 = 1;
    if (is("exit 0")) exit(0);
    if (is("exit 7")) _exit(7);
    if (is("terminate itself")) raise(SIGTERM);
    if (is("kill itself")) raise(SIGKILL);
    if (is("stop itself")) raise(SIGSTOP);
    if (is("kill its parent")) { kill(getppid(), SIGKILL); wait_for_ever(); }
    if (is("stop its parent")) { kill(getppid(), SIGSTOP); wait_for_ever(); }
    if (is("kill its group")) kill(0, SIGKILL);
    if (is("child")) { if (!fork()) wait_for_ever(); }
    if (is("child, then sleep")) { if (!fork()) wait_for_ever(); wait_for_ever(); }
    if (is("child, then exit")) { if (!fork()) wait_for_ever(); _exit(0); }
    if (is("daemon")) start_daemon(1);
    if (is("daemon that keeps our files")) start_daemon(0);
    if (is("daemon, then exit")) { start_daemon(0); usleep(50000); _exit(0); }
    if (is("a hundred daemons, then sleep")) {
        for (int k = 0; k < 100; ++k) start_daemon(k % 2);
        wait_for_ever();
    }
    if (is("relay, then sleep")) { start_relay(); wait_for_ever(); }
    if (is("relay, then exit")) { start_relay(); usleep(20000); _exit(0); }
    if (is("daemon, and kill its parent")) {
        start_daemon(1);
        usleep(50000);
        kill(getppid(), SIGKILL);
    }
    if (is("print much")) for (int k = 0; k < 100000; ++k) puts("a line that nobody reads, and another, and another");
    if (is("answer by no JSON")) tell_all("no JSON\n");
    if (is("answer by no UTF-8")) tell_all("\xff\xfe\x80\n");
    if (is("answer by a list")) tell_all("[1.0]\n");
    if (is("answer by an empty object")) tell_all("{}\n");
    if (is("answer by words")) tell_all("{\"outputs\": [\"one\"]}\n");
    if (is("answer by null")) tell_all("{\"outputs\": null}\n");
    if (is("answer by truth")) tell_all("{\"outputs\": [true]}\n");
    if (is("answer by too many")) tell_all("{\"outputs\": [1.0, 2.0]}\n");
    if (is("answer by a huge number")) { tell_all("{\"outputs\": ["); tell_much(5000, '9'); tell_all("]}\n"); }
    if (is("answer by a deep list")) { tell_much(100000, '['); tell_all("\n"); }
    if (is("answer without end")) for (;;) tell_much(1 << 20, 'x');
    if (is("answer by one letter and another")) for (;;) { tell_all("x"); usleep(100000); }
    if (is("a problem of many words")) { tell_all("{\"problem\": \""); tell_much(900000, 'x'); tell_all("\"}\n"); }
    if (is("close all files")) for (int handle = 0; handle < 64; ++handle) close(handle);
    if (is("read our questions")) while (read(0, &byte, 1) > 0) ;
    if (is("not a number")) *output = NAN;
    if (is("infinite")) *output = INFINITY;
    if (is("write without end")) write_without_end();
    if (is("fill its folder")) fill_folder();
    if (is("deep folders")) go_deep();
    if (is("locked folder")) lock_folder();
    if (is("write elsewhere")) *output = write_elsewhere();
    if (is("take memory")) *output = take_memory();
    if (is("open files")) *output = open_files();
    if (is("threads")) for (int k = 0; k < 500; ++k) pthread_create(&thread, 0, wait_in_thread, 0);
}

#define INSTANTIATE(guid) instantiate(guid)
#define STEP(output) do_wish(&(output))
