/** Base64 from outside as bytes, or its fault. The platform's decoder ignores unknown characters. */
import { quoted } from '../fiscal/fault.ts';

/** Decodes a text; white space is ignored, and padding may be missing. `problema`: the end of a sentence. */
export function decodeBytes(text: string): { readonly bytes: Buffer } | { readonly problema: string } {
  const compact = text.replace(/\s+/g, '');
  if (compact === '') return { problema: 'veio vazio' };
  const bare = compact.replace(/={1,2}$/, '');
  const at = bare.search(/[^A-Za-z0-9+/]/);
  if (at >= 0) return { problema: describeStrange(bare, at) };
  if (bare.length % 4 === 1) return { problema: `está cortado depois do caractere ${compact.length}` };
  return { bytes: Buffer.from(bare, 'base64') };
}

function describeStrange(bare: string, at: number): string {
  const strange = String.fromCodePoint(bare.codePointAt(at)!);
  if (/^[A-Za-z0-9_-]+$/.test(bare)) return 'está no alfabeto de endereços, com - e _; use o comum, com + e /';
  const shown = strange < ' ' ? `o caractere de controle ${strange.codePointAt(0)}` : `"${quoted(strange)}"`;
  return `há ${shown} no caractere ${at + 1}, e Base64 não o tem`;
}
