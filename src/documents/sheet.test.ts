/** The process that reads spreadsheets, against a file that fills memory where the limit of the heap does not look. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { freshFolder } from '../../test/support/openssl.ts';
import { writeSheetAsCsv } from './sheet.ts';

const SECTOR = 4_096;
const SECTORS = 7_900;
/** Sectors of the allocation table, each of 1,024 entries. */
const TABLES = 8;
const [FREE, END, TABLE] = [-1, -2, -3];

/**
 * An old spreadsheet (MS-CFB, version 4) of 32 MB, whose chains of sectors are 62 GB long together. The sectors of its first half begin
 * them, and all chains go on through the second half.
 */
function makeChains(): Buffer {
  const file = Buffer.alloc(SECTOR * (1 + SECTORS + TABLES));
  file.set([0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]);
  for (const [at, value] of [
    [24, 0x3e],
    [26, 4],
    [28, 0xfffe],
    [30, 12],
    [32, 6],
  ] as const)
    file.writeUInt16LE(value, at);
  for (const [at, value] of [
    [40, 1],
    [44, TABLES],
    [56, 4_096],
    [60, END],
    [68, END],
  ] as const)
    file.writeInt32LE(value, at);
  for (let at = 0; at < 109; at += 1) file.writeInt32LE(at < TABLES ? SECTORS + at : FREE, 76 + 4 * at);
  const nextOf = (at: number): number => {
    if (at >= SECTORS) return TABLE;
    if (at < SECTORS / 2) return SECTORS / 2;
    return at === SECTORS - 1 ? END : at + 1;
  };
  for (let at = 0; at < SECTORS + TABLES; at += 1) file.writeInt32LE(nextOf(at), SECTOR * (1 + SECTORS) + 4 * at);
  return file;
}

/** Bytes of memory of the children of this process, from proc(5). */
function readChildren(): number {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1').split(' ').filter(Boolean);
  return children.reduce((sum, pid) => {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1')) ?? [];
    return sum + Number(kilobytes) * 1_024;
  }, 0);
}

test('a file that asks for more memory than there is takes two gigabytes at most', {
  skip: process.platform === 'linux' ? false : 'the memory of a process is read in /proc',
}, async () => {
  const folder = freshFolder();
  const file = path.join(folder, 'cadastro.xls');
  writeFileSync(file, makeChains());
  const before = readChildren();
  let highest = 0;
  const look = setInterval(() => {
    highest = Math.max(highest, readChildren() - before);
  }, 20);
  await assert.rejects(
    writeSheetAsCsv(file, path.join(folder, 'lida.csv')),
    /cadastro\.xls é uma planilha grande demais/,
  );
  clearInterval(look);
  assert.ok(highest < 2 * 1024 ** 3, `${highest} bytes`);
  assert.ok(highest > 512 * 1024 ** 2, `${highest} bytes: the file no longer does what it is made for`);
});
