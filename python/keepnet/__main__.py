"""`python -m keepnet`: the same as the command `keepnet`."""

from keepnet_command import main

main()
