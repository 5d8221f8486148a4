// The last step of `npm ci`, on the machine's own Node: shrinks the Node that npm installed, and links it for scripts.
'use strict';
const { existsSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { brought, folder, findNode, NO_NODE } = require('./find-node.js');

const link = path.join(folder, '..', '.bin', 'node');
try {
  // These sixty-seven megabytes serve only for compiling against Node (D-315).
  rmSync(path.join(folder, 'include'), { recursive: true, force: true });
  // npm 10 removes the link with the packages of other systems, whose programs have the same names.
  if (!existsSync(brought) || existsSync(link) || existsSync(`${link}.cmd`)) {
    // npm has made the link already, or its target is missing.
  } else if (process.platform === 'win32') writeFileSync(`${link}.cmd`, `@"${brought}" %*\r\n`);
  else symlinkSync(path.relative(path.dirname(link), brought), link);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
}
if (findNode() === undefined) {
  process.stderr.write(NO_NODE);
  process.exit(1);
}
