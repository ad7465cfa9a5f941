/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements html.h. What belongs to one statement is gathered in texts and written when it has ended, so that the
 * page is whole up to there whatever comes. Everything that is not ours is escaped; pictures stand in data:
 * addresses, apart from the page, which forbids its reader to fetch anything.
 */
#include "html.h"

#include "cell.h"
#include "plot.h"
#include "render.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct shell_html {
    FILE *file;
    char *path;
    int columns;
    int64_t rows; /* shown */
    shell_text messages, table, picture, plan;
    shell_cell_buffer cell;
};

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src "
    "data:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n<title>lacis report</title>\n<style>\n"
    ":root { color-scheme: light dark; }\n"
    "body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "section { border-top: 1px solid #8886; padding: .6rem 0 1rem; }\n"
    "pre { font: 13px/1.4 ui-monospace, monospace; margin: .4rem 0; overflow-x: auto; }\n"
    ".statement { background: #8882; padding: .5rem .7rem; border-radius: 4px; white-space: pre-wrap; "
    "overflow-wrap: anywhere; }\n"
    ".result { overflow-x: auto; }\n"
    "table { border-collapse: collapse; font: 13px/1.4 ui-monospace, monospace; }\n"
    "th, td { padding: .1rem .6rem; border-bottom: 1px solid #8884; text-align: left; white-space: pre; }\n"
    "td.number { text-align: right; }\ntd.null, .aside { opacity: .65; }\n"
    "p { margin: .2rem 0; white-space: pre-wrap; }\n.error, .warning { font-weight: 600; }\n"
    "img { max-width: 100%; background: #fff; }\n"
    "@media print { section, img { break-inside: avoid; } pre, .result { overflow: visible; }\n"
    "pre, th, td { white-space: pre-wrap; overflow-wrap: break-word; } th, td { max-width: 24rem; }\n"
    "details::details-content { content-visibility: visible; display: block; } }\n"
    "</style>\n</head>\n<body>\n<h1>lacis report</h1>\n";

/* What the reader's browser shows as this text: markup means nothing in it, control characters are visible. */
static void put_text(shell_text *out, const char *text, size_t length)
{
    shell_text clean = {0};
    shell_clean(&clean, text, length);
    for (size_t i = 0; i < clean.used; i++) {
        switch (clean.data[i]) {
        case '&':
            shell_text_puts(out, "&amp;");
            break;
        case '<':
            shell_text_puts(out, "&lt;");
            break;
        case '>':
            shell_text_puts(out, "&gt;");
            break;
        case '"':
            shell_text_puts(out, "&quot;");
            break;
        default:
            shell_text_add(out, &clean.data[i], 1);
        }
    }
    shell_text_free(&clean);
}

static void write_text(shell_html *html, const shell_text *text)
{
    if (text->used > 0) fwrite(text->data, 1, text->used, html->file);
}

shell_html *shell_html_open(const char *path, const char *database)
{
    FILE *file = fopen(path, "we");
    if (!file) return NULL;
    shell_html *html = shell_alloc(NULL, sizeof *html);
    *html = (shell_html){.file = file, .path = shell_copy(path, strlen(path))};
    char when[64] = "";
    time_t now = time(NULL);
    struct tm local;
    if (localtime_r(&now, &local)) strftime(when, sizeof when, "%Y-%m-%d %H:%M", &local);
    shell_text about = {0};
    const char *name = database ? database : "a database in memory";
    put_text(&about, name, strlen(name));
    fprintf(file, "%s<p class=\"aside\">lacis %s, ", head, lacis_version());
    write_text(html, &about);
    fprintf(file, ", %s</p>\n", when);
    shell_text_free(&about);
    return html;
}

bool shell_html_close(shell_html *html)
{
    if (!html) return true;
    fputs("</body>\n</html>\n", html->file);
    bool good = fflush(html->file) == 0 && !ferror(html->file);
    int code = errno;
    if (fclose(html->file) != 0 && good) {
        good = false;
        code = errno;
    }
    shell_text_free(&html->messages);
    shell_text_free(&html->table);
    shell_text_free(&html->picture);
    shell_text_free(&html->plan);
    shell_text_free(&html->cell.blob);
    free(html->path);
    free(html);
    errno = code;
    return good;
}

const char *shell_html_path(const shell_html *html)
{
    return html->path;
}

/* -------------------------------------------------------------------------------- one statement's */

void shell_html_columns(shell_html *html, lacis_statement *statement, int columns)
{
    if (!html) return;
    html->columns = columns;
    shell_text_puts(&html->table, "<tr>");
    for (int i = 0; i < columns; i++) {
        const char *name = lacis_column_name(statement, i);
        shell_text_puts(&html->table, "<th>");
        if (name) put_text(&html->table, name, strlen(name));
        shell_text_puts(&html->table, "</th>");
    }
    shell_text_puts(&html->table, "</tr>\n");
}

void shell_html_row(shell_html *html, lacis_statement *statement)
{
    if (!html || html->rows == SHELL_HTML_ROWS) return;
    html->rows++;
    shell_text_puts(&html->table, "<tr>");
    for (int i = 0; i < html->columns; i++) {
        shell_cell cell = shell_cell_read(statement, i, &html->cell);
        bool null = cell.type == LACIS_NULL;
        shell_text_puts(&html->table, null                       ? "<td class=\"null\">NULL"
                                      : shell_cell_number(&cell) ? "<td class=\"number\">"
                                                                 : "<td>");
        if (!null) put_text(&html->table, cell.text, cell.length);
        shell_text_puts(&html->table, "</td>");
    }
    shell_text_puts(&html->table, "</tr>\n");
}

void shell_html_message(shell_html *html, const char *kind, const char *message)
{
    if (!html || !message || !message[0]) return;
    bool plain = strcmp(kind, "summary") == 0;
    shell_text_puts(&html->messages, "<p class=\"");
    shell_text_puts(&html->messages, kind);
    shell_text_puts(&html->messages, "\">");
    if (!plain) shell_text_puts(&html->messages, kind);
    if (!plain) shell_text_puts(&html->messages, ": ");
    put_text(&html->messages, message, strlen(message));
    shell_text_puts(&html->messages, "</p>\n");
}

void shell_html_picture(shell_html *html, const shell_text *svg)
{
    if (!html) return;
    shell_text_puts(&html->picture, "<p><img alt=\"plot\" src=\"data:image/svg+xml;base64,");
    plot_base64(svg->data, svg->used, &html->picture);
    shell_text_puts(&html->picture, "\"></p>\n");
}

void shell_html_plan(shell_html *html, const char *line)
{
    if (!html || !line) return;
    put_text(&html->plan, line, strlen(line));
    shell_text_puts(&html->plan, "\n");
}

/* ------------------------------------------------------------------------------------- the section */

static void write_result(shell_html *html, int64_t rows)
{
    char digits[SHELL_DIGITS * 2];
    if (html->table.used == 0) return;
    fputs("<div class=\"result\"><table>\n", html->file);
    write_text(html, &html->table);
    fputs("</table></div>\n", html->file);
    if (rows == html->rows) return;
    if (rows > html->rows)
        fprintf(html->file, "<p class=\"aside\">the first %lld of %s rows</p>\n", (long long)html->rows,
                shell_grouped(rows, digits));
    else
        fprintf(html->file, "<p class=\"aside\">the first %lld rows</p>\n", (long long)html->rows);
}

static void write_plan(shell_html *html)
{
    if (html->plan.used == 0) return;
    fputs("<details><summary>plan</summary><pre>", html->file);
    write_text(html, &html->plan);
    fputs("</pre></details>\n", html->file);
}

bool shell_html_statement(shell_html *html, const char *text, size_t length, int64_t rows, double seconds)
{
    if (!html) return true;
    shell_text statement = {0};
    put_text(&statement, text, length);
    fputs("<section>\n<pre class=\"statement\">", html->file);
    write_text(html, &statement);
    fputs("</pre>\n", html->file);
    write_text(html, &html->messages);
    write_result(html, rows);
    write_text(html, &html->picture);
    write_plan(html);
    fprintf(html->file, "<p class=\"aside\">%.3f s</p>\n</section>\n", seconds);
    shell_text_free(&statement);
    shell_text_clear(&html->messages);
    shell_text_clear(&html->table);
    shell_text_clear(&html->picture);
    shell_text_clear(&html->plan);
    html->columns = 0;
    html->rows = 0;
    return fflush(html->file) == 0 && !ferror(html->file);
}
