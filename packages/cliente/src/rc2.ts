/**
 * RC2 in CBC (RFC 2268), for decryption only. Authorities still encrypt the public certificates of a PKCS#12 with it,
 * and the platform no longer has it.
 */

const BLOCK_BYTES = 8;

/** PITABLE of the RFC, derived from the digits of pi. */
const PI = Buffer.from(
  [
    'd978f9c419ddb5ed28e9fd794aa0d89dc67e37832b76538e624c6488448bfba2',
    '179a59f587b34f1361456d8d09817d32bd8f40eb86b77b0bf09521225c6b4e82',
    '54d66593ce60b21c7356c014a78cf1dc1275ca1f3bbee4d1423dd430a33cb626',
    '6fbf0eda4669075727f21d9bbc944303f811c7f690ef3ee706c3d52fc8661ed7',
    '08e8eade8052eef784aa72ac354d6a2a961ad2715a1549744b9fd05e0418a4ec',
    'c2e0416e0f51cbcc2491af50a1f47039997c3a8523b8b47afc02365b25559731',
    '2d5dfa98e38a92ae05df2910676cbac9d300e6cfe19ea82c6316013f58e289a9',
    '0d38341bab33ffb0bb480c5fb9b1cd2ec5f3db47e5a59c770aa62068fe7fc1ad',
  ].join(''),
  'hex',
);

/** The octets without their padding; it throws when the padding is invalid. The effective length of the key is its length. */
export function decifrarRc2(octets: Buffer, key: Buffer, iv: Buffer): Buffer {
  const words = expandKey(key);
  const plain = Buffer.alloc(octets.length);
  if (octets.length === 0 || octets.length % BLOCK_BYTES !== 0) throw new RangeError('no whole blocks');
  let before = iv;
  for (let at = 0; at < octets.length; at += BLOCK_BYTES) {
    const block = octets.subarray(at, at + BLOCK_BYTES);
    const opened = decipherBlock(block, words);
    for (let place = 0; place < BLOCK_BYTES; place += 1) plain[at + place] = opened[place]! ^ before[place]!;
    before = block;
  }
  const padding = plain[plain.length - 1]!;
  const end = plain.length - padding;
  if (padding < 1 || padding > BLOCK_BYTES || !plain.subarray(end).every((octet) => octet === padding)) {
    throw new RangeError('no padding');
  }
  return plain.subarray(0, end);
}

function expandKey(key: Buffer): Uint16Array {
  const { length } = key;
  const octets = Buffer.alloc(128);
  key.copy(octets);
  for (let i = length; i < 128; i += 1) octets[i] = PI[(octets[i - 1]! + octets[i - length]!) & 255]!;
  octets[128 - length] = PI[octets[128 - length]!]!;
  for (let i = 127 - length; i >= 0; i -= 1) octets[i] = PI[octets[i + 1]! ^ octets[i + length]!]!;
  return Uint16Array.from({ length: 64 }, (_, i) => octets.readUInt16LE(2 * i));
}

const ROTATIONS = [1, 2, 3, 5];
/** Mixing rounds around the two mashing rounds. */
const ROUNDS = [5, 6, 5];

function decipherBlock(block: Buffer, words: Uint16Array): Buffer {
  const R = [0, 2, 4, 6].map((at) => block.readUInt16LE(at));
  let j = 63;
  ROUNDS.forEach((rounds, stage) => {
    if (stage > 0) for (let i = 3; i >= 0; i -= 1) R[i] = (R[i]! - words[R[(i + 3) % 4]! & 63]!) & 0xffff;
    for (let round = 0; round < rounds; round += 1) {
      for (let i = 3; i >= 0; i -= 1) {
        const by = ROTATIONS[i]!;
        const turned = ((R[i]! >>> by) | (R[i]! << (16 - by))) & 0xffff;
        const [one, two, three] = [R[(i + 3) % 4]!, R[(i + 2) % 4]!, R[(i + 1) % 4]!];
        R[i] = (turned - words[j]! - (one & two) - (~one & three)) & 0xffff;
        j -= 1;
      }
    }
  });
  const opened = Buffer.alloc(BLOCK_BYTES);
  R.forEach((word, i) => {
    opened.writeUInt16LE(word, 2 * i);
  });
  return opened;
}
