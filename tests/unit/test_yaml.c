#include "scene/yaml.h"

#include "capture.h"
#include "test.h"

#include <unistd.h>

// A parsed text with all that belongs to it.
typedef struct Parsed {
    TdlHost host;
    Capture capture;
    Arena arena;
    NodePool pool;
    Node* root;
    TdlStatus status;
} Parsed;

static void parse_bytes(Parsed* p, const char* text, size_t size) {
    p->host = capture_host(&p->capture);
    arena_init(&p->arena, &p->host.mem);
    p->pool = (NodePool){.arena = &p->arena};
    p->root = NULL;
    const Source* source = source_from_text(&p->arena, "t", text, size);
    p->status = yaml_parse(&p->host, &p->pool, source, 0, &p->root);
}

static void parse(Parsed* p, const char* text) {
    parse_bytes(p, text, strlen(text));
}

static void done(Parsed* p) {
    arena_destroy(&p->arena);
}

TEST(nodes_have_kind_text_and_place) {
    Parsed p;
    parse(&p, "a: 1\nbcd:\n  - x\n  - {k: 'v', l: \"w\"}\n");
    REQUIRE(p.status == TDL_STATUS_OK && p.root->kind == NODE_MAP);
    CHECK_INT(p.root->count, 2);
    const Node* a = node_find(p.root, "a");
    REQUIRE(a != NULL);
    CHECK_TEXT(a->text, "1");
    CHECK(!a->quoted);
    CHECK_INT(a->mark.line, 1);
    CHECK_INT(a->mark.column, 4);
    CHECK_INT(a->key_mark.column, 1);
    const Node* list = node_find(p.root, "bcd");
    REQUIRE(list != NULL && list->kind == NODE_LIST);
    CHECK_INT(list->count, 2);
    const Node* map = node_item(list, 1);
    CHECK_INT(map->mark.line, 4);
    CHECK_INT(map->mark.column, 5);
    CHECK_INT(node_find(map, "l")->mark.column, 17);
    CHECK(node_find(map, "k")->quoted && node_find(map, "l")->quoted);
    CHECK(node_find(map, "m") == NULL);
    done(&p);
}

TEST(windows_lines_and_a_byte_order_mark_are_read) {
    Parsed p;
    parse(&p, "\xef\xbb\xbf"
              "a: 1\r\nb: 2\r\n");
    REQUIRE(p.status == TDL_STATUS_OK);
    CHECK_TEXT(p.root->first->key, "a");
    CHECK_INT(node_find(p.root, "b")->mark.line, 2);
    done(&p);
}

typedef struct Broken {
    const char *text, *message;
} Broken;

TEST(broken_texts_are_told_at_their_place) {
    static const Broken BROKEN[] = {
        {"", "t:1:1: there is nothing here"},
        {"# only a remark", "t:1:16: there is nothing here"},
        {"# only a remark\n", "t:2:1: there is nothing here"},
        {"a: 1\na: 2\n", "t:2:1: 'a' is given twice; the first is in line 1"},
        {"a: 1\n---\nb: 2\n", "t:2:1: a second document; a scene is only one"},
        {"a: &x 1\n", "t:1:4: anchors (&name) are not part of the scene language"},
        {"a: *x\n",
         "t:1:4: aliases (*name) are not part of the scene language; write the value again"},
        {"a: !!float 1\n", "t:1:4: tags (!name) are not part of the scene language"},
        {"a: ! 1\n", "t:1:4: tags (!name) are not part of the scene language"},
        {"&a [1]\n", "t:1:1: anchors (&name) are not part of the scene language"},
        {"a: &b {c: 1}\n", "t:1:4: anchors (&name) are not part of the scene language"},
        {"? [a, b]\n: 1\n", "t:1:3: a key must be a plain word"},
        {"*a : 1\n",
         "t:1:1: aliases (*name) are not part of the scene language; write the value again"},
        {"a: \"\\0\"\n", "t:1:4: a text holds the character NUL"},
        {"a: \x80\n", "t:1:4: this byte, 0x80, is not UTF-8"},
        {"ab\xc3", "t:1:3: this byte, 0xc3, is not UTF-8"},
        {"a: \xc0\xaf\n", "t:1:4: this byte, 0xc0, is not UTF-8"},
        {"a: \xed\xa0\x80\n", "t:1:4: this byte, 0xed, is not UTF-8"},
        {"a: \xf4\x90\x80\x80\n", "t:1:4: this byte, 0xf4, is not UTF-8"},
        {"a: 1\nb: \x07\n", "t:2:4: the control character U+0007 has no place in a scene"},
        {"a: \xe2\x80\xa8\n", "t:1:4: the control character U+2028 has no place in a scene"},
        {"a: [1, 2\nb: 3\n", "t:2:2: did not find expected ',' or ']', while parsing a flow "
                             "sequence of line 1"},
        {"a: 'x\n", "t:2:1: found unexpected end of stream, while scanning a quoted scalar of "
                    "line 1"},
        {"a:\n\t- 1\n", "t:2:1: found character that cannot start any token, while scanning for "
                        "the next token"},
        {"a: b: c\n", "t:1:5: mapping values are not allowed in this context"},
    };
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; ++i) {
        Parsed p;
        parse(&p, BROKEN[i].text);
        CHECK_INT(p.status, TDL_STATUS_BAD_INPUT);
        CHECK_INT(p.capture.errors, 1);
        CHECK_TEXT(p.capture.first, BROKEN[i].message);
        done(&p);
    }
}

TEST(a_nul_byte_is_told) {
    Parsed p;
    parse_bytes(&p, "a: 1\nb: \0 2\n", 12);
    CHECK_INT(p.status, TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(p.capture.first, "t:2:4: the control character U+0000 has no place in a scene");
    done(&p);
}

TEST(depth_keys_and_values_are_limited) {
    Parsed p;
    char text[20000] = "";
    memset(text, '[', YAML_DEPTH_MAX + 1);
    parse(&p, text);
    CHECK_TEXT(p.capture.first, "t:1:34: did not find expected node content, while parsing a flow "
                                "node");
    done(&p);
    memset(text, '[', 10000);
    parse(&p, text);
    CHECK_TEXT(p.capture.first, "t:1:34: nested more than 32 deep");
    done(&p);

    size_t used = 0;
    for (int i = 0; i <= YAML_KEYS_MAX; ++i) {
        used += (size_t)snprintf(text + used, sizeof text - used, "k%d: 1\n", i);
    }
    parse(&p, text);
    CHECK_TEXT(p.capture.first, "t:1001:1: more than 1000 keys in one group");
    done(&p);

    // a pool that is nearly used up
    p.host = capture_host(&p.capture);
    arena_init(&p.arena, &p.host.mem);
    p.pool = (NodePool){.arena = &p.arena, .count = YAML_NODES_MAX - 3};
    const Source* source = source_from_text(&p.arena, "t", "[1, 2, 3]", 9);
    CHECK_INT(yaml_parse(&p.host, &p.pool, source, 0, &p.root), TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(p.capture.first, "t:1:8: more than 4194304 values");
    done(&p);
}

// --- the line and the caret
// -----------------------------------------------------------------------

static void check_caret(const char* text, int line, int column, const char* message) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    Arena arena;
    arena_init(&arena, &host.mem);
    const Source* source = source_from_text(&arena, "t", text, strlen(text));
    CHECK_INT(fail_at(&host, (Mark){source, line, column}, "no"), TDL_STATUS_BAD_INPUT);
    CHECK_TEXT(capture.text, message);
    arena_destroy(&arena);
}

TEST(the_caret_stands_under_its_column) {
    check_caret("abc\ndef\n", 1, 1, "t:1:1: no\n    abc\n    ^");
    check_caret("abc\ndef\n", 2, 3, "t:2:3: no\n    def\n      ^");
    check_caret("abc\r\ndef\r\n", 2, 2, "t:2:2: no\n    def\n     ^");
    check_caret("a\tb\tc\n", 1, 5, "t:1:5: no\n    a\tb\tc\n     \t \t^");
    check_caret("\xc3\xa9\xe2\x82\xac: x\n", 1, 5,
                "t:1:5: no\n    \xc3\xa9\xe2\x82\xac: x\n        ^");
    // behind the end of the line, and of the file
    check_caret("ab\n", 1, 3, "t:1:3: no\n    ab\n      ^");
    check_caret("ab\n", 2, 1, "t:2:1: no\n    \n    ^");
    // what does not print, and bytes that are not UTF-8, are shown as '?'
    check_caret("a\x01z", 1, 3, "t:1:3: no\n    a?z\n      ^");
    check_caret("a\xff\xc2\x9b[1mz", 1, 2, "t:1:2: no\n    a??[1mz\n     ^");
    check_caret("\xef\xbb\xbf"
                "abc",
                1, 2, "t:1:2: no\n    abc\n     ^");
}

TEST(long_lines_are_cut_around_the_caret) {
    char text[3001], expected[400];
    for (int i = 0; i < 3000; ++i) {
        text[i] = (char)('0' + i % 10);
    }
    text[3000] = '\0';
    // near the start: the end is cut
    snprintf(expected, sizeof expected, "t:1:5: no\n    %.96s...\n        ^", text);
    check_caret(text, 1, 5, expected);
    // in the middle: both are; 64 code points stand before the caret
    snprintf(expected, sizeof expected, "t:1:1000: no\n    ...%.96s...\n       %64s^", text + 935,
             "");
    check_caret(text, 1, 1000, expected);
    // at the end: the start is cut
    snprintf(expected, sizeof expected, "t:1:3000: no\n    ...%s\n       %64s^", text + 2935, "");
    check_caret(text, 1, 3000, expected);
}

TEST(marks_of_bytes_count_lines_and_code_points) {
    Capture capture;
    TdlHost host = capture_host(&capture);
    Arena arena;
    arena_init(&arena, &host.mem);
    const Source* source = source_from_text(&arena, "t\nt", "a\xc3\xa9z\r\nq\n", 8);
    CHECK_TEXT(source->name, "t?t");
    static const int PLACES[][3] = {{0, 1, 1}, {1, 1, 2}, {3, 1, 3}, {4, 1, 4},
                                    {6, 2, 1}, {7, 2, 2}, {8, 3, 1}};
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; ++i) {
        Mark mark = source_mark(source, (size_t)PLACES[i][0]);
        CHECK_INT(mark.line, PLACES[i][1]);
        CHECK_INT(mark.column, PLACES[i][2]);
    }
    arena_destroy(&arena);
}

TEST(quotes_are_short_and_clean) {
    CHECK_TEXT(quote("abc").text, "'abc'");
    CHECK_TEXT(quote("a\nb\x7f").text, "'a?b?'");
    CHECK_TEXT(quote("\xc2\x9b\xff\xc3\xa9").text, "'??\xc3\xa9'");
    char text[200];
    memset(text, 'x', sizeof text - 1);
    text[199] = '\0';
    CHECK_INT(strlen(quote(text).text), QUOTE_SIZE - 4);
    // no half code point before the dots
    for (int i = 0; i < 99; ++i) {
        memcpy(text + 2 * i, "\xc3\xa9", 2);
    }
    text[198] = '\0';
    CHECK_INT(strlen(quote(text).text) % 2, 1);
}

// --- writing
// --------------------------------------------------------------------------------------

static bool same_tree(const Node* a, const Node* b) {
    if (a->kind != b->kind || a->count != b->count || (a->key == NULL) != (b->key == NULL) ||
        (a->key != NULL && strcmp(a->key, b->key) != 0)) {
        return false;
    }
    if (a->kind == NODE_TEXT) {
        // an empty text needs its quotes, so it may gain them
        return strcmp(a->text, b->text) == 0 && (a->quoted == b->quoted || a->text[0] == '\0');
    }
    bool same = true;
    for (const Node *x = a->first, *y = b->first; same && x != NULL; x = x->next, y = y->next) {
        same = same_tree(x, y);
    }
    return same;
}

TEST(a_written_tree_reads_the_same) {
    static const char* const TEXTS[] = {
        "a: 1\nb: [1, 2.50, 3e-7]\n",
        "t: \"1\"\nu: 'it''s: a #text'\nv: |\n  two\n  lines\n",
        "l: []\nm: {}\nn:\n  - [1, 2]\n  - {k: v}\n  - - deep\n    - er: {x: y}\n",
        ("e: \"\\u00e9\\t\\\"\"\nlong: this text is much longer than the eighty columns at which "
         "writers of YAML like to fold their lines, so it must not be folded\n"),
        "\"odd key: #\": 1\n\"\": 2\n'true': x\n",
    };
    char path[64];
    snprintf(path, sizeof path, "/tmp/tendril-yaml-%d", (int)getpid());
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; ++i) {
        Parsed p;
        parse(&p, TEXTS[i]);
        REQUIRE(p.status == TDL_STATUS_OK);
        CHECK_INT(yaml_write(&p.host, p.root, path), TDL_STATUS_OK);
        const Source* source;
        char reason[128];
        REQUIRE(source_from_file(&p.host, &p.arena, path, &source, reason) == TDL_STATUS_OK);
        Node* again = NULL;
        CHECK_INT(yaml_parse(&p.host, &p.pool, source, 0, &again), TDL_STATUS_OK);
        if (again == NULL || !same_tree(p.root, again)) {
            FAIL("text %zu was written as\n%s", i, source->text);
        }
        done(&p);
    }
    unlink(path);
}

TEST(writing_where_one_cannot_leaves_nothing) {
    Parsed p;
    parse(&p, "a: 1\n");
    CHECK_INT(yaml_write(&p.host, p.root, "/nowhere/at/all"), TDL_STATUS_IO);
    CHECK_TEXT(p.capture.first, "/nowhere/at/all: could not be written: No such file or directory");
    // the place is a folder: the file written beside it goes away
    char folder[64], part[80];
    snprintf(folder, sizeof folder, "/tmp/tendril-yaml-XXXXXX");
    REQUIRE(mkdtemp(folder) != NULL);
    snprintf(part, sizeof part, "%s.part", folder);
    CHECK_INT(yaml_write(&p.host, p.root, folder), TDL_STATUS_IO);
    CHECK(access(part, F_OK) != 0);
    rmdir(folder);
    done(&p);
}
