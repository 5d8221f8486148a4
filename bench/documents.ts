/** Distinct DPS documents made quickly of one: number, provider and value change, everything else stays. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { certificatesOfPem } from '../src/documents/certificate.ts';
import { signatureOf } from '../src/documents/signing.ts';
import { readXml } from '../src/documents/xml.ts';
import { cnpjIsValid } from '../src/fiscal/chave.ts';

/** CNPJ with right check digits for a root number. */
function cnpjOf(root: number): string {
  const base = `${String(root).padStart(8, '0')}0001`;
  for (let dv = 0; dv < 100; dv += 1) {
    const cnpj = base + String(dv).padStart(2, '0');
    if (cnpjIsValid(cnpj)) return cnpj;
  }
  throw new Error('no check digits fit');
}

export function cnpjsOf(providers: number): readonly string[] {
  return Array.from({ length: providers }, (_, place) => cnpjOf(10_000_000 + place));
}

/** A text with three places to fill: number, provider, whole units of the value. */
type Filled = (number: number, cnpj: string, value: number) => string;

function filling(text: string): Filled {
  const [first, second, third, last] = text.split(/@[123]@/);
  if (last === undefined) throw new Error('the template lacks nDPS, CNPJ or vServ');
  return (number, cnpj, value) => `${first}${number}${second}${cnpj}${third}${value}${last}`;
}

function marked(template: string): string {
  return template
    .replace(/<nDPS>[^<]*</, '<nDPS>@1@<')
    .replace(/(<prest>\s*<CNPJ>)[^<]*</, '$1@2@<')
    .replace(/<vServ>[^<]*</, '<vServ>@3@.00<');
}

/** A function from a number to the bytes of a DPS with that `nDPS`, spread over so many providers. */
export function distinctDps(template: string, providers: number): (number: number) => Buffer {
  const cnpjs = cnpjsOf(providers);
  const fill = filling(marked(template));
  return (number) => Buffer.from(fill(number, cnpjs[number % providers]!, 100 + (number % 900)));
}

export type ProviderKeys = { readonly documento: string; readonly certificado: string; readonly chave: string };

/** The same documents, signed by their providers: those with numbers from `first` on. */
export function signedDps(
  template: string,
  providers: readonly ProviderKeys[],
  first: number,
  count: number,
): readonly Buffer[] {
  const signers = providers.map(({ certificado, chave }) => ({
    key: createPrivateKey(readFileSync(chave)),
    certificate: certificatesOfPem(readFileSync(certificado, 'utf8'))[0]!,
  }));
  const text = marked(template);
  const reading = readXml(Buffer.from(text));
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const infDps = reading.root.children[0]!;
  const id = infDps.attributes.find(({ name }) => name === 'Id')!.value;
  const canonical = filling(reading.canonicalOf(infDps));
  const end = text.lastIndexOf('</');
  const [document, tail] = [filling(text.slice(0, end)), text.slice(end)];
  const signed = (number: number): Buffer => {
    const place = number % providers.length;
    const values = [number, providers[place]!.documento, 100 + (number % 900)] as const;
    const signature = signatureOf(canonical(...values), id, signers[place]!);
    return Buffer.from(document(...values) + signature + tail);
  };
  return Array.from({ length: count }, (_, place) => signed(first + place));
}
