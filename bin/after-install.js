// The last step of `npm ci`, on the Node of the machine: makes the Node that npm brought small, and findable in scripts.
'use strict';
const { existsSync, rmSync, symlinkSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { brought, folder, findNode, NO_NODE } = require('./find-node.js');

const link = path.join(folder, '..', '.bin', 'node');
try {
  // Sixty-seven megabytes that serve only who compiles against Node.
  rmSync(path.join(folder, 'include'), { recursive: true, force: true });
  // npm 10 takes the link away with the packages of other systems, whose programs are called the same.
  if (!existsSync(brought) || existsSync(link) || existsSync(`${link}.cmd`)) {
    // npm made it, or there is nothing to link to.
  } else if (process.platform === 'win32') writeFileSync(`${link}.cmd`, `@"${brought}" %*\r\n`);
  else symlinkSync(path.relative(path.dirname(link), brought), link);
} catch (error) {
  process.stderr.write(`${error.message}\n`);
}
if (findNode() === undefined) {
  process.stderr.write(NO_NODE);
  process.exit(1);
}
