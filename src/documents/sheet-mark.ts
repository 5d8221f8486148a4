/** Whether a file begins as a spreadsheet does: an archive, or the older compound format. */
export function isSheet(start: Uint8Array): boolean {
  return isArchive(start) || COMPOUND.every((byte, at) => start[at] === byte);
}

export function isArchive(start: Uint8Array): boolean {
  return ARCHIVE.every((byte, at) => start[at] === byte);
}

const ARCHIVE = [0x50, 0x4b];
const COMPOUND = [0xd0, 0xcf, 0x11, 0xe0];
