/**
 * `nfse assinatura`: the signature debugger at a terminal. By itself it reads the file here, with the trust that the
 * options name; with a municipality it asks the service, which knows whom that municipality trusts.
 */
import { debugSignatureOffline, type SentSignature, type SignatureReport } from '../../flows/debug-signature.ts';
import { bytesOf, type Command, columns, type Terminal, textOf, type Values } from './command.ts';
import { faultLines } from './faults.ts';

const DEFAULT_URL = 'http://127.0.0.1:8080';
const DEFAULT_TENANT = 'integracao';
const PATH = '/api/v1/assinatura/verificacao';
const TIMEOUT_MS = 30_000;
const CAMPO = 'X-DPS-Assinatura';

export const ASSINATURA: Command = {
  name: 'assinatura',
  arguments: 'ARQUIVO',
  summary: 'Diz se a produção aceitaria a assinatura de uma DPS ou de um corpo JSON, e o que mudar.',
  options: {
    ancoras: { type: 'string' },
    revogados: { type: 'string' },
    municipio: { type: 'string' },
    url: { type: 'string' },
    cms: { type: 'string' },
    canonico: { type: 'boolean' },
  },
  optionsHelp: [
    ['--ancoras DIR', 'autoridades em que confiar, em PEM (padrão: as raízes da ICP-Brasil)'],
    ['--revogados DIR', 'listas de certificados revogados (padrão: não verifica)'],
    ['--municipio SLUG', `pergunta ao serviço, com a confiança desse município (padrão ${DEFAULT_TENANT})`],
    ['--url URL', `endereço do serviço a que perguntar (padrão ${DEFAULT_URL})`],
    ['--cms FILE', `de um corpo JSON, o valor de ${CAMPO}: Base64, ou o CMS em DER`],
    ['--canonico', 'escreve só a forma canônica, byte a byte, na saída padrão'],
  ],
  takes: 1,
  run: (terminal, values, [file]) => assinatura(terminal, values, file!),
};

type Shown = Omit<SignatureReport, 'faults'> & { readonly erros: SignatureReport['faults'] };
type Refused = { readonly problem: string };

/** 0: production would accept it (or the canonical form was written); 1: it would not; 2: asked wrongly. */
async function assinatura(terminal: Terminal, values: Values, file: string): Promise<number> {
  const [url, municipio] = [textOf(values, 'url'), textOf(values, 'municipio')];
  const [ancoras, revogados] = [textOf(values, 'ancoras'), textOf(values, 'revogados')];
  const asksService = url !== undefined || municipio !== undefined;
  if (asksService && (ancoras !== undefined || revogados !== undefined)) {
    terminal.err('Use --ancoras e --revogados, ou --municipio e --url: o serviço tem as âncoras do município.\n');
    return 2;
  }
  const sent = await sentOf(file, textOf(values, 'cms'));
  if (typeof sent === 'string') {
    terminal.err(sent);
    return 2;
  }
  const shown = asksService
    ? await askService(`${(url ?? DEFAULT_URL).replace(/\/+$/, '')}/${municipio ?? DEFAULT_TENANT}${PATH}`, sent)
    : readHere(terminal, sent, { ancoras, revogados });
  if ('problem' in shown) {
    terminal.err(shown.problem);
    return 1;
  }
  if (values.canonico === true) return writeCanonical(terminal, shown);
  terminal.out(reportText(file, shown));
  return shown.valida ? 0 : 1;
}

/** What the file is, is read off its beginning. A text: what was asked wrongly. */
async function sentOf(file: string, cms: string | undefined): Promise<SentSignature | string> {
  const body = await bytesOf(file);
  // Of an XML in UTF-16 every other byte is zero.
  const start = Buffer.from(body.subarray(0, 256))
    .toString('latin1')
    .replace(/^(ï»¿|ÿþ|þÿ)/, '')
    .replace(/[\0\s]/g, '');
  const isJson = start.startsWith('{') || start.startsWith('[');
  if (!isJson && cms !== undefined) return `--cms é para um corpo JSON, e ${file} não é JSON.\n`;
  if (!isJson) return { kind: 'xml', body };
  return { kind: 'json', body, campo: CAMPO, cabecalho: cms === undefined ? undefined : await headerIn(cms) };
}

const DER_SEQUENCE = 0x30;
/** After the tag of a SEQUENCE, a length in long form: no text has this octet second, and a CMS always. */
const DER_LONG = 0x80;

async function headerIn(file: string): Promise<string> {
  const bytes = Buffer.from(await bytesOf(file));
  if (bytes[0] === DER_SEQUENCE && (bytes[1] ?? 0) >= DER_LONG) return bytes.toString('base64');
  const text = bytes.toString('latin1').trim().replace(/\s+/g, ' ');
  if (!/^[ -~]*$/.test(text)) throw new Error(`o arquivo ${file} não é Base64 nem um CMS em DER.`);
  return text;
}

function readHere(
  terminal: Terminal,
  sent: SentSignature,
  trust: { readonly ancoras: string | undefined; readonly revogados: string | undefined },
): Shown | Refused {
  const log = { warn: (_about: object, message: string) => terminal.err(`Aviso: ${message}\n`) };
  const report = debugSignatureOffline(sent, trust, Date.now(), log);
  if (!('valida' in report)) return { problem: `${faultLines(report.faults)}\n` };
  const { faults, ...rest } = report;
  return { ...rest, erros: faults };
}

async function askService(address: string, sent: SentSignature): Promise<Shown | Refused> {
  const own = sent.kind === 'json' && sent.cabecalho !== undefined ? { [sent.campo]: sent.cabecalho } : {};
  const type = sent.kind === 'json' ? 'application/json' : 'application/xml';
  let response: Response;
  let text: string;
  try {
    const body = sent.body as Uint8Array<ArrayBuffer>;
    const headers = { 'Content-Type': type, Accept: 'application/json', ...own };
    response = await fetch(address, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_MS) });
    text = await response.text();
  } catch {
    throw new Error(`não houve resposta de ${address}. O endereço está certo e o serviço no ar?`);
  }
  // biome-ignore lint/suspicious/noExplicitAny: the answer of another program, looked at field by field
  let answer: any;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new Error(`${address} respondeu algo que não é deste serviço (HTTP ${response.status}).`);
  }
  if (response.status === 200 && typeof answer?.valida === 'boolean') return answer;
  const erros = Array.isArray(answer?.erros) ? `${faultLines(answer.erros)}\n` : '';
  return { problem: `O serviço não verificou a assinatura (HTTP ${response.status}).\n${erros}` };
}

function writeCanonical(terminal: Terminal, { forma_canonica, veredito }: Shown): number {
  if (forma_canonica === null) {
    terminal.err(`Não há forma canônica a escrever. ${veredito}\n`);
    return 1;
  }
  terminal.out(forma_canonica);
  return 0;
}

// The report as text.

type Check = readonly [confere: boolean | null, what: string, detail: string];

const MARKS = new Map<boolean | null, string>([
  [true, '✓'],
  [false, '✗'],
  [null, '–'],
]);
const UNKNOWN = 'não se chegou a verificar';

function reportText(file: string, shown: Shown): string {
  const { erros, o_que_mudar, veredito, forma_canonica } = shown;
  const checks = [
    ...digestChecks(shown),
    ...attributeChecks(shown),
    ...algorithmChecks(shown),
    ...certificateChecks(shown),
  ];
  const lines = columns(checks.map(([confere, what, detail]) => [`${MARKS.get(confere)} ${what}`, detail]));
  const steps = o_que_mudar.map((step, place) => `  ${place + 1}. ${step}`);
  return [
    `${file}: assinatura ${shown.assinatura}`,
    '',
    ...lines,
    '',
    veredito,
    ...(erros.length === 0 ? [] : ['', 'O que foi achado:', faultLines(erros)]),
    ...(steps.length === 0 ? [] : ['', 'O que mudar:', ...steps]),
    ...(steps.length === 0 || forma_canonica === null ? [] : ['', 'Com --canonico: a forma canônica, e só ela.']),
    '',
  ].join('\n');
}

function digestChecks({ resumo, valor, forma_canonica_bytes: bytes, forma_canonica_sha256: sha256 }: Shown): Check[] {
  const size = bytes === null ? UNKNOWN : `${bytes} bytes, SHA-256 ${sha256}`;
  const form: Check = [bytes === null ? null : true, 'forma canônica', size];
  if (resumo === null) return [form, [null, 'resumo', UNKNOWN], [valor.confere, 'valor da assinatura', UNKNOWN]];
  const { declarado, calculado, algoritmo, confere } = resumo;
  const digest: Check =
    confere === false
      ? [false, `resumo ${algoritmo}`, `declarado ${declarado}, calculado ${calculado}`]
      : [confere, `resumo ${algoritmo}`, confere ? calculado : `nenhum declarado; calculado ${calculado}`];
  const value = new Map<boolean | null, string>([
    [true, 'feito pela chave do certificado'],
    [false, 'não foi feito pela chave do certificado sobre o que veio'],
    [null, UNKNOWN],
  ]);
  return [form, digest, [valor.confere, 'valor da assinatura', value.get(valor.confere)!]];
}

function attributeChecks({ atributos_assinados: attributes }: Shown): Check[] {
  return (attributes ?? []).map(({ nome, oid, valor }) => [null, 'atributo assinado', `${nome} (${oid}): ${valor}`]);
}

function algorithmChecks({ algoritmos }: Shown): Check[] {
  return algoritmos.map(({ onde, encontrado, exigido, confere }) => {
    const what = /[^/]+(?:\/@\w+)?$/.exec(onde)?.[0] ?? onde;
    const found = encontrado ?? 'não há';
    return [confere, what, confere ? found : `${found}; exigido: ${exigido}`] as const;
  });
}

function certificateChecks({ certificado, prestador }: Shown): Check[] {
  if (certificado === null) return [[null, 'certificado', UNKNOWN]];
  const { titular, tipo, documento, onde, inicio, fim, cadeia, motivo, revogado } = certificado;
  const whose = documento === null ? 'não traz CNPJ nem CPF' : `${tipo} ${documento}, lido em ${onde}`;
  const revocation = new Map<boolean | null, string>([
    [true, 'está revogado'],
    [false, 'não consta das listas'],
    [null, 'não se verificou'],
  ]);
  return [
    [documento === null ? null : true, 'certificado', `${titular}: ${whose}`],
    [certificado.valido_agora, 'validade', `${inicio} a ${fim}`],
    [certificado.confiavel, 'cadeia', cadeia === null ? (motivo ?? UNKNOWN) : cadeia.join(' ← ')],
    [revogado === null ? null : !revogado, 'revogação', revocation.get(revogado)!],
    [prestador.confere, 'prestador', prestador.documento ?? 'o documento não diz quem é'],
  ];
}
