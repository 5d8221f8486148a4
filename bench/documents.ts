/** Distinct DPS documents, made quickly from one: number, provider and value change, everything else stays. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { certificatesOfPem } from '../src/documents/certificate.ts';
import { signCms } from '../src/documents/cms-sign.ts';
import { type Signer, signatureOf } from '../src/documents/signing.ts';
import { readXml } from '../src/documents/xml.ts';
import { cnpjIsValid, dpsIdOf } from '../src/fiscal/chave.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';

/** The kinds of documents: the title of each, and its differences from the example. None causes a remark. */
export const DOCUMENTOS = {
  comum: { titulo: 'comum', format: 'xml', patch: {} },
  longo: {
    titulo: 'de textos longos',
    format: 'xml',
    patch: {
      'serv/cServ/xDescServ': 'DESENVOLVIMENTO DE MÓDULOS DE GESTÃO. '.repeat(60).slice(0, 1999).trimEnd(),
      'serv/infoCompl/xInfComp': 'CONTRATO Nº 1234/2026, PARCELA 3 DE 12. '.repeat(60).slice(0, 1999).trimEnd(),
    },
  },
  obra: {
    titulo: 'de obra',
    format: 'xml',
    patch: {
      'serv/cServ/cTribNac': '070201',
      'serv/cServ/cNBS': '101011100',
      'IBSCBS/cIndOp': '020201',
      'IBSCBS/valores/trib/gIBSCBS/CST': '200',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '200045',
      'serv/obra/cObra': '900012345678',
      'serv/obra/inscImobFisc': '001.002.0003-4',
    },
  },
  json: { titulo: 'em JSON', format: 'json', patch: {} },
  ibscbs: {
    titulo: 'em JSON, com IBS e CBS declarados',
    format: 'json',
    patch: { '=ibscbs.valores_aliquota_ibs_uf': '0.10', '=ibscbs.valores_aliquota_cbs': '0.90' },
  },
} as const satisfies Readonly<Record<string, { titulo: string; format: 'xml' | 'json'; patch: Patch }>>;

export type Documento = keyof typeof DOCUMENTOS;

/** The rate is the registered one of the municipality; another one causes a remark. `codigo`: of the municipality. */
export function patchOf(documento: Documento, isProduction: boolean, codigo?: string): Patch {
  const common = { tpAmb: isProduction ? '1' : '2', serie: '1', nDPS: '1', 'valores/trib/tribMun/pAliq': '5.00' };
  const there = codigo === undefined ? {} : { cLocEmi: codigo, 'serv/locPrest/cLocPrestacao': codigo };
  return { ...common, ...there, ...DOCUMENTOS[documento].patch };
}

/** A CNPJ with correct check digits for a root number. */
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

/** The values that differ in each document: number, provider, whole units of the value. */
type Values = readonly [number: number, cnpj: string, value: number];
type Filled = (...values: Values) => string;

/** Fills the placeholders of {@link markXml} and {@link markJson}. */
function filling(text: string): Filled {
  const pieces = text.split(/@(id|numero|cnpj|valor)@/);
  if (pieces.length < 7) throw new Error('the template lacks number, CNPJ or value');
  const idOf = identifying(text);
  return (number, cnpj, value) => {
    const texts: Readonly<Record<string, () => string>> = {
      id: () => idOf(number, cnpj),
      numero: () => String(number),
      cnpj: () => cnpj,
      valor: () => String(value),
    };
    return pieces.map((piece, place) => (place % 2 === 0 ? piece : texts[piece]!())).join('');
  };
}

/** The identifier that the layout prescribes: another one causes a remark. */
function identifying(template: string): (number: number, cnpj: string) => string {
  const [cLocEmi, serie] = ['cLocEmi', 'serie'].map(
    (name) => new RegExp(`<${name}>([^<]*)<`).exec(template)?.[1] ?? '',
  );
  return (number, documento) => dpsIdOf({ cLocEmi: cLocEmi!, documento, serie: serie!, nDPS: String(number) });
}

function markXml(template: string): string {
  return template
    .replace(/ Id="[^"]*"/, ' Id="@id@"')
    .replace(/<nDPS>[^<]*</, '<nDPS>@numero@<')
    .replace(/(<prest>\s*<CNPJ>)[^<]*</, '$1@cnpj@<')
    .replace(/<vServ>[^<]*</, '<vServ>@valor@.00<');
}

function markJson(template: string): string {
  return template
    .replace(/"numero_dps": *"[^"]*"/, '"numero_dps": "@numero@"')
    .replace(/"prestador_cpf_cnpj": *"[^"]*"/, '"prestador_cpf_cnpj": "@cnpj@"')
    .replace(/"valor_servico": *"[^"]*"/, '"valor_servico": "@valor@.00"');
}

function valuesOf(number: number, cnpjs: readonly string[]): Values {
  return [number, cnpjs[number % cnpjs.length]!, 100 + (number % 900)];
}

/** A function from a number to the bytes of a DPS with that `nDPS`, spread over the providers. */
export function distinctDps(template: string, providers: number): (number: number) => Buffer {
  return distinctXml(template, cnpjsOf(providers));
}

export function distinctXml(template: string, cnpjs: readonly string[]): (number: number) => Buffer {
  const fill = filling(markXml(template));
  return (number) => Buffer.from(fill(...valuesOf(number, cnpjs)));
}

/** The same documents as JSON bodies. */
export function distinctJson(template: string, cnpjs: readonly string[]): (number: number) => Buffer {
  const fill = filling(markJson(template));
  return (number) => Buffer.from(fill(...valuesOf(number, cnpjs)));
}

export type ProviderKeys = { readonly documento: string; readonly certificado: string; readonly chave: string };

/** The same documents, signed by their providers: those with numbers from `first` on. */
export function signedDps(
  template: string,
  providers: readonly ProviderKeys[],
  first: number,
  count: number,
): readonly Buffer[] {
  const sign = signingDps(template, providers);
  return Array.from({ length: count }, (_, place) => sign(first + place));
}

/** A function from a number to the signed document. */
export function signingDps(template: string, providers: readonly ProviderKeys[]): (number: number) => Buffer {
  const [signers, cnpjs] = [providers.map(signerOf), providers.map(({ documento }) => documento)];
  const text = markXml(template);
  const reading = readXml(Buffer.from(text));
  if ('fault' in reading) throw new Error(reading.fault.mensagem);
  const canonical = filling(reading.canonicalOf(reading.root.children[0]!));
  const idOf = identifying(text);
  const end = text.lastIndexOf('</');
  const [document, tail] = [filling(text.slice(0, end)), text.slice(end)];
  return (number) => {
    const values = valuesOf(number, cnpjs);
    const signature = signatureOf(canonical(...values), idOf(number, values[1]), signers[number % signers.length]!);
    return Buffer.from(document(...values) + signature + tail);
  };
}

/** A function from a number and the bytes of a JSON body to its signature, as in the header. */
export function signingJson(providers: readonly ProviderKeys[]): (number: number, body: Buffer) => string {
  const signers = providers.map(signerOf);
  return (number, body) => signCms(body, signers[number % signers.length]!).toString('base64');
}

const signers = new Map<string, Signer>();

/** The signer with these files, read once. */
function signerOf({ certificado, chave }: ProviderKeys): Signer {
  const known = signers.get(chave);
  if (known !== undefined) return known;
  const signer = {
    key: createPrivateKey(readFileSync(chave)),
    certificate: certificatesOfPem(readFileSync(certificado, 'utf8'))[0]!,
  };
  signers.set(chave, signer);
  return signer;
}
