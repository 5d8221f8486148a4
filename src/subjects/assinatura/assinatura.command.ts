/**
 * `nfse assinatura`: the signature debugger at a terminal. It reads the file on this machine, with the trust that the options name. If a
 * municipality is given, it asks the service, which knows whom that municipality trusts.
 */
import { Recusado } from '../../../packages/cliente/src/index.ts';
import { askedWrongly, type Command, type Terminal, textOf, type Values } from '../../base/terminal/command.ts';
import {
  type Asked,
  CAMPO,
  checkOptions,
  explainSilence,
  readCheck,
  type SentFile,
  signatureOf,
} from '../../base/terminal/follow.ts';
import { columns, faultLines } from '../../base/terminal/text.ts';
import { inspectConfianca } from '../../base/world/municipio-files.ts';
import { debugSignatureOffline, type SentSignature, type SignatureReport } from './debug.ts';

export const ASSINATURA: Command = {
  name: 'assinatura',
  arguments: 'ARQUIVO',
  summary: 'Diz se a produção aceitaria a assinatura de uma DPS ou de um corpo JSON, e o que mudar.',
  options: {
    ancoras: { takes: 'PASTA', help: 'autoridades em que confiar, em PEM (padrão: as raízes da ICP-Brasil)' },
    revogados: { takes: 'PASTA', help: 'listas de certificados revogados (padrão: não verifica)' },
    ...checkOptions('a confiança', 'sem o serviço'),
    canonico: { help: 'escreve só o que se resume, byte a byte: a forma canônica; de JSON, o corpo' },
  },
  run: (terminal, values, [file]) => assinatura(terminal, values, file!),
};

type Report = Omit<SignatureReport, 'faults'> & { readonly erros: SignatureReport['faults'] };
type Failure = { readonly problem: string; readonly code: number };

/** Exit code 0: production would accept it, or the canonical form was written; 1: production would refuse it; 2: wrong usage. */
async function assinatura(terminal: Terminal, values: Values, file: string): Promise<number> {
  const [ancoras, revogados] = [textOf(values, 'ancoras'), textOf(values, 'revogados')];
  const namesService = values['url'] !== undefined || values['municipio'] !== undefined;
  if (namesService && (ancoras !== undefined || revogados !== undefined)) {
    return askedWrongly(
      terminal,
      'Use --ancoras e --revogados, ou --municipio e --url: o serviço tem as âncoras do município.\n',
    );
  }
  const check = await readCheck(terminal, values, file);
  if (typeof check === 'string') return askedWrongly(terminal, check);
  const { sent, service } = check;
  const report =
    service === undefined ? await checkHere(terminal, sent, { ancoras, revogados }) : await askService(service, sent);
  if ('problem' in report) {
    terminal.err(report.problem);
    return report.code;
  }
  if (values['canonico'] === true) return writeCanonical(terminal, report);
  terminal.out(describeReport(file, report, findHints(file, sent, report, { asksService: namesService, ancoras })));
  return report.valida ? 0 : 1;
}

/** Hints at other uses of this command that help with the findings. */
function findHints(
  file: string,
  sent: SentFile,
  { certificado, resumo, forma_canonica }: Report,
  { asksService, ancoras }: { readonly asksService: boolean; readonly ancoras: string | undefined },
): readonly string[] {
  const hints: string[] = [];
  if (sent.kind === 'json' && sent.assinatura === undefined) {
    hints.push(`A assinatura de um corpo JSON vem à parte: indique com --cms o arquivo em que ela está.`);
  }
  if (!asksService && ancoras === undefined && certificado !== null && !certificado.confiavel) hints.push(TEST_HINT);
  if (sent.kind === 'xml' && forma_canonica !== null && resumo?.confere !== true) {
    hints.push(`Para comparar byte a byte, nfse assinatura ${file} --canonico escreve a forma canônica e mais nada.`);
  }
  return hints;
}

const TEST_HINT =
  'Aqui se confiou só nas raízes da ICP-Brasil. Para um certificado de teste, indique com --ancoras a pasta das autoridades dele.';

async function checkHere(
  terminal: Terminal,
  sent: SentFile,
  trust: { readonly ancoras: string | undefined; readonly revogados: string | undefined },
): Promise<Report | Failure> {
  const { problems, avisos } = await inspectConfianca(trust);
  if (problems.length > 0) return { problem: `${problems.join('\n')}\n`, code: 2 };
  const warned = new Set<string>();
  const warn = (message: string): void => {
    if (!warned.has(message)) terminal.err(`Aviso: ${message}\n`);
    warned.add(message);
  };
  avisos.forEach(warn);
  const signature: SentSignature =
    sent.kind === 'xml' ? sent : { kind: 'json', body: sent.body, campo: CAMPO, cabecalho: sent.assinatura };
  const report = debugSignatureOffline(signature, trust, Date.now(), { warn: (_about, message) => warn(message) });
  if (!('valida' in report)) return { problem: `${faultLines(report.faults)}\n`, code: 1 };
  const { faults, ...rest } = report;
  return { ...rest, erros: faults };
}

async function askService({ cliente, base }: Asked, sent: SentFile): Promise<Report | Failure> {
  try {
    return (await cliente.verificarAssinatura(sent.body, signatureOf(sent))) as Report;
  } catch (error) {
    if (!(error instanceof Recusado)) throw explainSilence(error, base);
    const { status, erros } = error;
    return { problem: `O serviço não verificou a assinatura (HTTP ${status}).\n${faultLines(erros)}\n`, code: 1 };
  }
}

function writeCanonical(terminal: Terminal, { forma_canonica, veredito, assinatura: kind }: Report): number {
  if (forma_canonica === null) {
    const why = kind === 'CMS' ? 'O corpo não é texto em UTF-8; os bytes assinados são os do arquivo.' : veredito;
    terminal.err(`Não há o que escrever. ${why}\n`);
    return 1;
  }
  terminal.out(forma_canonica);
  return 0;
}

// The report as text.

/** `confere` is `info` for a line that is only shown, and null for a check that was not possible. */
type Check = readonly [confere: boolean | null | 'info', what: string, detail: string];

const MARKS = new Map<Check[0], string>([
  [true, '✓'],
  [false, '✗'],
  [null, '–'],
  ['info', '·'],
]);
const UNKNOWN = 'não verificado, pelo que está abaixo';

function describeReport(file: string, report: Report, hints: readonly string[]): string {
  const { erros, o_que_mudar, veredito } = report;
  const checks = isUnsigned(report)
    ? [formCheck(report), ...digestChecks(report)]
    : [
        formCheck(report),
        ...digestChecks(report),
        valueCheck(report),
        ...attributeChecks(report),
        ...algorithmChecks(report),
        ...certificateChecks(report),
      ];
  const lines = columns(
    checks.map(([confere, what, detail]) => [what === '' ? '' : `${MARKS.get(confere)} ${what}`, detail]),
  );
  const steps = o_que_mudar.map((step, place) => `  ${place + 1}. ${step}`);
  return [
    `${file}: ${isUnsigned(report) ? 'sem assinatura' : `assinatura ${report.assinatura}`}`,
    '',
    ...lines,
    '',
    veredito,
    ...(erros.length === 0 ? [] : ['', 'O que foi achado:', faultLines(erros)]),
    ...(steps.length === 0 ? [] : ['', 'O que mudar:', ...steps]),
    ...(hints.length === 0 ? [] : ['', ...hints]),
    '',
  ].join('\n');
}

function isUnsigned({ erros }: Pick<Report, 'erros'>): boolean {
  return erros.some(({ codigo }) => codigo === 'E901' || codigo === 'E9002');
}

function formCheck({ assinatura: kind, forma_canonica_bytes: bytes, forma_canonica_sha256: sha256 }: Report): Check {
  // The digest of a JSON body stands in the next line.
  if (kind === 'CMS') return ['info', 'bytes assinados', `${bytes}, os do corpo como está no arquivo`];
  if (bytes === null) return [null, 'forma canônica', 'não há: o documento não tem um só infDPS dentro de DPS'];
  return ['info', 'forma canônica', `${bytes} bytes, SHA-256 ${sha256}`];
}

/** Two digests that differ stand in two lines, to be compared by eye. */
function digestChecks({ assinatura: kind, resumo, atributos_assinados: attributes, valor, erros }: Report): Check[] {
  if (resumo === null) return [[null, 'resumo', UNKNOWN]];
  const { declarado, calculado, algoritmo, confere } = resumo;
  const what = `resumo ${algoritmo}`;
  if (confere === true) return [[true, what, declarado!]];
  if (calculado === null) return [[null, what, `declarado ${declarado}`]];
  if (declarado !== null) {
    return [
      [confere, what, `declarado ${declarado}`],
      [confere, '', `calculado ${calculado}`],
    ];
  }
  if (isUnsigned({ erros })) return [['info', what, calculado]];
  const isOverBody = kind === 'CMS' && attributes === null && valor.confere !== null;
  const why = isOverBody ? 'sem atributos assinados, é sobre ele que a chave assina' : 'o declarado não se pôde ler';
  return [[isOverBody ? 'info' : null, what, `${calculado} (${why})`]];
}

function valueCheck({ valor, algoritmos, assinatura: kind, atributos_assinados: attributes }: Report): Check {
  const over = kind === 'XML' ? 'SignedInfo' : attributes === null ? 'o corpo' : 'os atributos assinados';
  // The value was checked with the required algorithm alone; it may be valid under the algorithm that the document declares.
  const other = algoritmos.find(({ onde, confere }) => onde.endsWith('/SignatureMethod') && confere === false);
  const findings = new Map<boolean | null, string>([
    [true, `feito pela chave do certificado sobre ${over}`],
    [
      false,
      other === undefined
        ? `não foi feito pela chave do certificado sobre ${over}`
        : `não confere sobre ${over} com o algoritmo que se exige; o documento usa outro`,
    ],
    [null, UNKNOWN],
  ]);
  return [valor.confere, 'valor da assinatura', findings.get(valor.confere)!];
}

/** The attribute that declares the digest is left out, because the digest has its own line. */
function attributeChecks({ atributos_assinados: attributes, resumo }: Report): Check[] {
  return (attributes ?? [])
    .filter(({ nome, valor }) => nome !== 'messageDigest' || valor !== resumo?.declarado)
    .map(({ nome, oid, valor }) => ['info', nome === 'desconhecido' ? `atributo ${oid}` : nome, valor]);
}

function algorithmChecks({ algoritmos }: Report): Check[] {
  return algoritmos.map(({ onde, encontrado, exigido, confere }) => {
    const what = /[^/]+(?:\/@\w+)?$/.exec(onde)?.[0] ?? onde;
    const found = encontrado ?? 'não há, ou não se pôde ler';
    return [confere, what, confere ? found : `${found}; exigido: ${exigido}`] as const;
  });
}

function certificateChecks({ certificado, prestador }: Report): Check[] {
  if (certificado === null) return [[null, 'certificado', UNKNOWN]];
  const { titular, tipo, documento, onde, inicio, fim, cadeia, revogado } = certificado;
  const missing = certificado.sem_lista_de_revogados;
  const whose = documento === null ? 'não traz CNPJ nem CPF' : `${tipo} ${documento}, lido em ${onde}`;
  const revocation = new Map<boolean | null, string>([
    [true, 'está revogado, ou uma autoridade dele está'],
    [false, 'não consta das listas'],
    [
      null,
      missing === null
        ? 'não verificada, sem a cadeia'
        : `não verificada: falta uma lista de revogados, completa e em vigor, de ${missing.map((name) => `"${name}"`).join(', ')}`,
    ],
  ]);
  const party = prestador.documento ?? 'o documento não diz quem é';
  return [
    [documento === null ? null : true, 'certificado', `${titular}: ${whose}`],
    [certificado.valido_agora, 'validade', `${moment(inicio)} a ${moment(fim)}`],
    [
      certificado.confiavel,
      'cadeia',
      cadeia === null ? `${certificado.emissor}: não confiável, pelo motivo abaixo` : cadeia.join(' ← '),
    ],
    [revogado === null ? null : !revogado, 'revogação', revocation.get(revogado)!],
    [prestador.confere, 'prestador', prestador.confere === false ? `${party}: o certificado não é dele` : party],
  ];
}

/** Formats `2027-11-21T11:34:55-03:00` as day, month, year and time. */
function moment(iso: string): string {
  return iso.replace(/^(\d+)-(\d+)-(\d+)T([\d:]{8}).*$/, '$3/$2/$1 $4');
}
