"""Where torch works in these tests: on the CPU, or on what TREEREP_TEST_DEVICE names, for example "cuda"."""

import os

DEVICE = os.environ.get("TREEREP_TEST_DEVICE", "cpu")
