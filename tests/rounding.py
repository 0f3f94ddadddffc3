"""How far the results of mathematical functions may differ from one machine to another."""

#: One unit in the last place of a float64 is at most this share of its value.
ULP = 2.0**-52
#: For expectations that take one or two functions (exp, log, sinh, ...) on either side and do not amplify their errors.
#: NumPy allows its vector code 4 units for each; the manual of glibc lists up to 2. Sums and roots add a half each.
FUNCTIONS = 16 * ULP
