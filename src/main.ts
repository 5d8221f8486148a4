/** The name that the program had once: units and scripts that still start it by that name start the same program. */
await import('./main.js');
