/* SPDX-License-Identifier: Apache-2.0
 *
 * Line plots as SVG, from points in a CSV file.
 */
#ifndef LACIS_BENCH_PICTURE_H
#define LACIS_BENCH_PICTURE_H

/* Reads lines "panel,x,series,y" below a heading, whose names of x and y label the axes, and draws a panel for each
 * of the first column's values. 0, or 1 after a message. */
int bench_picture(const char *csv, const char *svg);

#endif
