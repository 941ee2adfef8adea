"""`python -m keepnet`: the same as the command `keepnet`."""

from keepnet_command import main

if __name__ == "__main__":
    main()
