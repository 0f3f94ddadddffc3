"""FastME: balanced minimum evolution with NNI, in C. Its time includes reading the file."""

from .program import program

RIVALS = [
    program(
        "fastme",
        "minimum evolution, balanced",
        [
            "fastme",
            "-i",
            "{}",
            "-o",
            "/dev/stdout",
            "-I",
            "/dev/null",
            "-m",
            "B",
            "-n",
            "B",
            "-T",
            "1",
            "-v",
            "0",
        ],
        version=["--version"],
        install="build FastME 2 (atgc-montpellier.fr/fastme), and put fastme on the PATH",
    ),
]
