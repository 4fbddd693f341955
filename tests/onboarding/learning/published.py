"""Worked examples that others published, with their sources."""

import numpy as np

# CLSI EP28-A3c, table 4: serum calcium of 240 medical students, in mg/dL; value, women, men. As the R package mcradds
# 1.1.1 (Gu, GPL-3) cites it in its data set `calcium`.
CALCIUM = (
    (8.8, 1, 0), (8.9, 2, 0), (9.0, 1, 0), (9.1, 3, 2), (9.2, 11, 1), (9.3, 11, 8), (9.4, 8, 6), (9.5, 16, 11),
    (9.6, 16, 12), (9.7, 26, 13), (9.8, 8, 16), (9.9, 7, 14), (10.0, 3, 7), (10.1, 2, 10), (10.2, 3, 11),
    (10.3, 2, 7), (10.4, 0, 1), (10.5, 0, 0), (10.6, 0, 1),
)  # fmt: skip
WOMEN = np.repeat([row[0] for row in CALCIUM], [row[1] for row in CALCIUM])
MEN = np.repeat([row[0] for row in CALCIUM], [row[2] for row in CALCIUM])

# CLSI EP28-A3c, appendix B: the example of the robust method, as mcradds cites it for `robustRI`.
APPENDIX_B = np.repeat([8.9, 9.2, 9.4, 9.5, 9.6, 9.7, 9.8, 9.9, 10.2], [1, 1, 2, 3, 4, 5, 1, 2, 1])

# CLSI EP28-A3c, table 8 (after Reed, Henry and Mason 1971): the ranks of the 90 % confidence interval of the 2.5th
# percentile, from so many people on; up to 1000. As mcradds and the R package referenceIntervals cite it.
TABLE_8 = (
    (119, 1, 7), (133, 1, 8), (161, 1, 9), (188, 2, 9), (190, 2, 10), (219, 2, 11), (249, 2, 12), (250, 3, 12),
    (280, 3, 13), (308, 4, 13), (310, 4, 14), (341, 4, 15), (364, 5, 15), (373, 5, 16), (404, 5, 17), (418, 6, 17),
    (436, 6, 18), (469, 6, 19), (471, 7, 19), (501, 7, 20), (523, 8, 20), (534, 8, 21), (566, 8, 22), (575, 9, 22),
    (599, 9, 23), (625, 10, 23), (632, 10, 24), (666, 10, 25), (675, 11, 25), (699, 11, 26), (725, 12, 26),
    (733, 12, 27), (766, 12, 28), (774, 13, 28), (800, 13, 29), (823, 14, 29), (834, 14, 30), (868, 14, 31),
    (872, 15, 31), (902, 15, 32), (920, 16, 32), (936, 16, 33), (968, 17, 33), (971, 17, 34),
)  # fmt: skip

# Berthouex and Brown, Statistics for Environmental Engineers, chapter 8, page 74: the eleven largest of 575 values of
# BOD, ranks 565 to 575. Not a reference interval, but a percentile by the same rank p(n + 1); the book gives 7171 for
# the 99th, at rank 570.24. It does not print the 564 smaller values there, and they do not matter: here they are 0.
BOD = np.array([0] * 564 + [5977, 6079, 6261, 6289, 6627, 7123, 7322, 7580, 7820, 10385, 10565], dtype=np.float64)
