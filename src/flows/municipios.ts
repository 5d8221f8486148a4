/**
 * Opening a municipality and changing what it has set. Everything is checked at once and told together; nothing is
 * stored while there is a problem. Of files only the paths are kept, absolute, because the service may run elsewhere.
 */
import path from 'node:path';
import { AMBIENTES, type Ambiente, SANDBOX_SLUG } from '../fiscal/ambiente.ts';
import { municipioOf as ibgeOf } from '../fiscal/catalogs/catalogs.ts';
import { type Decimal, decimal, formatDecimal, parseDecimal } from '../fiscal/decimal.ts';
import { brazilianDate, momentIn } from '../fiscal/moment.ts';
import { GUARDA_MIN_DIAS } from '../store/guarda.ts';
import type { ListaNome } from '../store/listas.ts';
import type { AcessoAdn, ChavesAdn, Municipio } from '../store/municipios.ts';
import { avisosDeAliquotas } from './avisos-aliquotas.ts';
import { zoneOf } from './gather-facts.ts';
import { type CertificadoShown, type Inspection, inspectAdn, inspectConfianca } from './municipio-files.ts';
import type { World } from './world.ts';

/** What the registry may touch: it works beside a running service, or without one. */
export type RegistryWorld = Pick<World, 'store' | 'now'> & {
  /** Public address of the service, as the settings of this machine have it. */
  readonly baseUrl?: string | undefined;
};

/** As the operator writes them; paths may be relative. */
export type Settings = {
  readonly ibge?: string | undefined;
  readonly ambiente?: string | undefined;
  /** Percentage, as `5`, `5.00` or `5,00`. */
  readonly aliquota?: string | undefined;
  readonly ancoras?: string | undefined;
  readonly revogados?: string | undefined;
  readonly adn?: string | undefined;
  readonly adnCa?: string | undefined;
  readonly adnCertificado?: string | undefined;
  readonly adnChave?: string | undefined;
  readonly adnPfx?: string | undefined;
  readonly adnSenhaArquivo?: string | undefined;
  /** `recusar` or `avisar`. */
  readonly regrasNacionais?: string | undefined;
  /** `publica` or `parte`. */
  readonly consultaDps?: string | undefined;
  /** `sim` or `nao`. */
  readonly soapSha1?: string | undefined;
  readonly soapNamespace?: string | undefined;
  readonly exigirNumero?: boolean | undefined;
  readonly exigirChaveNoEvento?: boolean | undefined;
  /** Whole numbers; 0: none. */
  readonly limiteEndereco?: string | undefined;
  readonly limitePrestador?: string | undefined;
  readonly guardaDias?: string | undefined;
  /** What is taken away. */
  readonly sem?: readonly Removable[] | undefined;
};

export const REMOVABLE = [
  'aliquota',
  'ancoras',
  'revogados',
  'adn',
  'adn-ca',
  'regras-nacionais',
  'consulta-dps',
  'soap-namespace',
  'exigir-numero',
  'exigir-chave-no-evento',
  'limite-endereco',
  'limite-prestador',
  'guarda-dias',
] as const;

export type Removable = (typeof REMOVABLE)[number];

export type Configured =
  | {
      readonly municipio: Municipio;
      /** As it was; undefined when it was opened just now. */
      readonly antes?: Municipio;
      readonly avisos: readonly string[];
      /** That of the municipality, when it was named just now. */
      readonly certificado: CertificadoShown | undefined;
    }
  | { readonly problems: readonly string[] };

/** First segments of the service's own addresses, today's and those it may come to need. */
export const RESERVED_SLUGS: ReadonlySet<string> = new Set(
  'admin api assets console docs erros favicon health login logout metrics nfse openapi public soap static status wsdl'.split(
    ' ',
  ),
);

/** Also the check of the column. */
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** Opens a municipality. */
export async function createMunicipio(world: RegistryWorld, slug: string, settings: Settings): Promise<Configured> {
  const blank: Municipio = {
    tenant: slug,
    ambiente: 'producao',
    codigoIbge: undefined,
    aliquotaPadrao: undefined,
    confianca: { ancoras: undefined, revogados: undefined },
    adn: undefined,
    regrasNacionais: undefined,
    consultaDps: undefined,
    // Those that were there before these were asked for keep what they had (D-228).
    exigeNumero: true,
    exigeNotaNoEvento: true,
  };
  const slugIs = slugProblem(slug);
  const { problems, ...configured } = await applied(world, blank, settings);
  const missing = settings.ibge === undefined ? ['Falta --ibge, com o código IBGE do município, de 7 algarismos.'] : [];
  const shared = await sharedCode(world, configured.municipio);
  const all = [...(slugIs === undefined ? [] : [slugIs]), ...missing, ...problems, ...shared];
  if (all.length > 0) return { problems: all };
  if (await world.store.municipios.create(configured.municipio, world.now())) return configured;
  // Another command may have been quicker by a moment.
  const [sharedNow] = await sharedCode(world, configured.municipio);
  return { problems: [sharedNow ?? `Já existe o município ${slug}. Para mudá-lo: nfse municipio alterar ${slug} …`] };
}

/** Changes what is named and leaves the rest. */
export async function alterMunicipio(world: RegistryWorld, slug: string, settings: Settings): Promise<Configured> {
  const current = await municipioNamed(world, slug);
  const { problems, ...configured } = await applied(world, current, settings);
  const { municipio } = configured;
  const moved = municipio.codigoIbge !== current.codigoIbge || municipio.ambiente !== current.ambiente;
  const fixed = moved ? await whyFixed(world, slug) : undefined;
  const shared = moved && fixed === undefined ? await sharedCode(world, municipio) : [];
  const all = [...(fixed === undefined ? [] : [fixed]), ...problems, ...shared];
  if (all.length > 0) return { problems: all };
  if (await world.store.municipios.update(municipio)) {
    const everybodys = slug === SANDBOX_SLUG ? [SANDBOX_IS_EVERYBODYS] : [];
    return { ...configured, antes: current, avisos: [...everybodys, ...configured.avisos] };
  }
  // Another command was quicker by a moment: it took the code, or the municipality away.
  await municipioNamed(world, slug);
  return { problems: await sharedCode(world, municipio) };
}

const SANDBOX_IS_EVERYBODYS = `${SANDBOX_SLUG} é o ambiente de integração de todos: a mudança vale para quem quer que teste nele. Para um ensaio só seu: nfse municipio criar SLUG --ibge CÓDIGO --ambiente homologacao.`;

/** That a municipality would issue under two addresses: each would number the same notes, and take the same DPS. */
async function sharedCode(world: RegistryWorld, municipio: Municipio): Promise<readonly string[]> {
  const { tenant, ambiente, codigoIbge } = municipio;
  if (ambiente !== 'producao' || codigoIbge === undefined) return [];
  const other = await world.store.municipios.findInProducao(codigoIbge, tenant);
  if (other === undefined) return [];
  const where = `${codigoIbge} ${nameOf(municipio) ?? ''}`.trim();
  return [
    `${where} já está em produção no endereço ${other}, e um município só numera notas num endereço. Para mudar o que há: nfse municipio alterar ${other} …; para um ensaio ao lado: --ambiente homologacao; se ${other} foi engano e não tem notas: nfse municipio excluir ${other}.`,
  ];
}

export type Removal = {
  readonly municipio: Municipio;
  readonly nome: string | undefined;
  /** Establishments of the registry, and lines of each list, that go with it. */
  readonly prestadores: number;
  readonly listas: Readonly<Record<ListaNome, number>>;
};

/** What taking a municipality away would take, or why it stays. Throws an Error in Portuguese when there is none. */
export async function removalOf(world: RegistryWorld, slug: string): Promise<Removal | { readonly problem: string }> {
  const municipio = await municipioNamed(world, slug);
  if (slug === SANDBOX_SLUG) return { problem: `${SANDBOX_SLUG} é o ambiente de integração de todos, e fica.` };
  if (await world.store.municipios.hasIssued(slug)) return { problem: hasNotes(slug) };
  return { municipio, nome: nameOf(municipio), ...(await countsOf(world, slug)) };
}

async function countsOf({ store }: RegistryWorld, tenant: string): Promise<Pick<Removal, 'prestadores' | 'listas'>> {
  const [prestadores, listas] = await Promise.all([
    store.municipios.countPrestadores(tenant),
    store.listas.count(tenant),
  ]);
  return { prestadores, listas };
}

/** Takes a municipality away, with its registry and settings; the files that it names stay where they are. */
export async function removeMunicipio(world: RegistryWorld, { municipio }: Removal): Promise<string | undefined> {
  if (await world.store.municipios.delete(municipio.tenant)) return undefined;
  await municipioNamed(world, municipio.tenant);
  return hasNotes(municipio.tenant);
}

function hasNotes(slug: string): string {
  return `O município já emitiu notas, que ficam guardadas: não se exclui. Para que deixe de transmitir: nfse municipio alterar ${slug} --sem-adn`;
}

/** Keys carry the municipality's code, and numbers of one ambiente must not mix with those of the other. */
async function whyFixed(world: RegistryWorld, slug: string): Promise<string | undefined> {
  if (slug === SANDBOX_SLUG)
    return `${SANDBOX_SLUG} é o ambiente de integração de todos: ambiente e código IBGE não mudam.`;
  if (!(await world.store.municipios.hasIssued(slug))) return undefined;
  return 'O município já emitiu notas: ambiente e código IBGE não mudam mais.';
}

/** The municipality of a slug. Throws an Error in Portuguese when there is none. */
export async function municipioNamed(world: RegistryWorld, slug: string): Promise<Municipio> {
  // Also before the service was ever started.
  if (slug === SANDBOX_SLUG) {
    await world.store.municipios.create({ tenant: slug, ambiente: 'homologacao', codigoIbge: undefined }, world.now());
  }
  const municipio = SLUG.test(slug) ? await world.store.municipios.findBySlug(slug) : undefined;
  if (municipio !== undefined) return municipio;
  if (slug.trim() === '')
    throw new Error('o SLUG do município veio vazio. nfse municipio listar mostra os que existem.');
  throw new Error(`não existe o município ${slug}. nfse municipio listar mostra os que existem.`);
}

function slugProblem(slug: string): string | undefined {
  if (!SLUG.test(slug)) {
    return `O endereço "${slug}" não serve: use de 1 a 63 letras minúsculas sem acento, algarismos e hífen, começando por letra ou algarismo. Exemplo: sao-paulo.`;
  }
  if (slug === SANDBOX_SLUG)
    return `${SANDBOX_SLUG} é o ambiente de integração, que já existe; escolha outro endereço.`;
  return RESERVED_SLUGS.has(slug) ? `O endereço ${slug} é reservado ao serviço; escolha outro.` : undefined;
}

type Applied = Inspection & {
  readonly municipio: Municipio;
  readonly certificado: CertificadoShown | undefined;
};

/** The municipality as it would be, and what is wrong with what was named. */
async function applied(world: RegistryWorld, current: Municipio, settings: Settings): Promise<Applied> {
  const problems: string[] = [];
  const refuse = (problem: string): void => void problems.push(problem);
  const sem = new Set(settings.sem);
  for (const name of sem) {
    const given = {
      aliquota: settings.aliquota,
      ancoras: settings.ancoras,
      revogados: settings.revogados,
      adn: settings.adn,
      'adn-ca': settings.adnCa,
      'regras-nacionais': settings.regrasNacionais,
      'consulta-dps': settings.consultaDps,
      'soap-namespace': settings.soapNamespace,
      'exigir-numero': settings.exigirNumero,
      'exigir-chave-no-evento': settings.exigirChaveNoEvento,
      'limite-endereco': settings.limiteEndereco,
      'limite-prestador': settings.limitePrestador,
      'guarda-dias': settings.guardaDias,
    };
    if (given[name] !== undefined) refuse(`--${name} e --sem-${name} não andam juntos.`);
  }
  const confianca = {
    ancoras: sem.has('ancoras') ? undefined : (absolute(settings.ancoras) ?? current.confianca.ancoras),
    revogados: sem.has('revogados') ? undefined : (absolute(settings.revogados) ?? current.confianca.revogados),
  };
  const municipio: Municipio = {
    ...current,
    ambiente: ambienteOf(settings.ambiente, refuse) ?? current.ambiente,
    codigoIbge: ibgeCodeOf(settings.ibge, refuse) ?? current.codigoIbge,
    aliquotaPadrao: sem.has('aliquota') ? undefined : (aliquotaOf(settings.aliquota, refuse) ?? current.aliquotaPadrao),
    confianca,
    adn: sem.has('adn') ? undefined : adnOf(current.adn, settings, sem.has('adn-ca'), refuse),
    regrasNacionais: sem.has('regras-nacionais')
      ? undefined
      : (chosen('regras-nacionais', settings.regrasNacionais, REGRAS_NACIONAIS, refuse) ?? current.regrasNacionais),
    consultaDps: sem.has('consulta-dps')
      ? undefined
      : (chosen('consulta-dps', settings.consultaDps, CONSULTAS_DPS, refuse) ?? current.consultaDps),
    soapSha1: chosen('soap-sha1', settings.soapSha1, SIM_NAO, refuse) ?? current.soapSha1 ?? false,
    soapNamespace: sem.has('soap-namespace')
      ? undefined
      : (namespaceOf(settings.soapNamespace, refuse) ?? current.soapNamespace),
    exigeNumero: sem.has('exigir-numero') ? false : (settings.exigirNumero ?? current.exigeNumero ?? false),
    exigeNotaNoEvento: sem.has('exigir-chave-no-evento')
      ? false
      : (settings.exigirChaveNoEvento ?? current.exigeNotaNoEvento ?? false),
    limiteEndereco: sem.has('limite-endereco')
      ? undefined
      : (countOf('limite-endereco', settings.limiteEndereco, refuse) ?? current.limiteEndereco),
    limitePrestador: sem.has('limite-prestador')
      ? undefined
      : (countOf('limite-prestador', settings.limitePrestador, refuse) ?? current.limitePrestador),
    guardaDias: sem.has('guarda-dias') ? undefined : (guardaOf(settings.guardaDias, refuse) ?? current.guardaDias),
  };
  const [trust, adn] = await Promise.all([
    // A folder that is away must not stop another change; but lists are of use or not by the anchors that the municipality has.
    inspectConfianca(confianca, {
      named: (['ancoras', 'revogados'] as const).filter((name) => settings[name] !== undefined),
      now: world.now(),
    }),
    namesAdn(settings) && municipio.adn !== undefined
      ? inspectAdn(municipio.adn, confianca, world.now())
      : { problems: [], avisos: [], certificado: undefined },
  ]);
  return {
    municipio,
    certificado: adn.certificado,
    problems: [...problems, ...trust.problems, ...adn.problems],
    avisos: [
      ...trust.avisos,
      ...adn.avisos,
      ...(await remarksOnAliquota(world, municipio, settings)),
      ...incomplete(municipio),
      ...remarksOnAddress(world, municipio),
    ],
  };
}

/** In production the addresses of the answers should not be whatever the request says in `Host`. */
function remarksOnAddress({ baseUrl }: RegistryWorld, { ambiente }: Municipio): readonly string[] {
  return baseUrl === undefined && ambiente === 'producao' ? [`${SEM_BASE_URL} ${HERE_TOO}`] : [];
}

/** A command sees its own environment, and not that of the service. */
const HERE_TOO = 'Se o serviço já a tem, este comando não a vê: defina-a também onde ele roda.';

/** Told by the commands of a municipality and at the start of the service. */
export const SEM_BASE_URL =
  'NFSE_BASE_URL não está definida: os endereços nas respostas (Location, doc_url, a descrição do porto SOAP) seguem o cabeçalho Host de cada requisição. Defina-a com o endereço público, como NFSE_BASE_URL=https://nfse.exemplo.gov.br.';

async function remarksOnAliquota(
  world: RegistryWorld,
  { tenant, aliquotaPadrao }: Municipio,
  { aliquota, sem }: Settings,
): Promise<readonly string[]> {
  if (aliquota === undefined && !sem?.includes('aliquota')) return [];
  const avisos: string[] = [];
  if (aliquota !== undefined && aliquotaPadrao !== undefined && isUnusual(aliquotaPadrao)) {
    const which =
      aliquotaPadrao > ALIQUOTA_MAX
        ? 'passa de 5 %, o máximo do ISS (LC 116/2003, art. 8º)'
        : 'fica abaixo de 2 %, o mínimo do ISS salvo nos subitens 7.02, 7.05 e 16.01 (LC 116/2003, art. 8º-A); 5 % se escreve 5';
    avisos.push(`A alíquota de ${formatDecimal(aliquotaPadrao)} % ${which}.`);
  }
  const { servicos } = await world.store.listas.count(tenant);
  if (servicos > 0) {
    avisos.push(
      'Há lista de serviços importada, e é dela que vem a alíquota: --aliquota e --sem-aliquota não têm efeito enquanto ela existir.',
    );
  }
  return avisos;
}

/** Percentages of LC 116/2003, articles 8 and 8-A. */
/** The highest rate that a note can carry, in percent (`pAliqAplic`, TSDec1V2). */
export const ALIQUOTA_DA_NOTA_MAX = decimal('9.99');
const ALIQUOTA_MAX = decimal('5.00');
const ALIQUOTA_MIN = decimal('2.00');

/** Outside of what the law of the ISS allows without looking at the service. */
export function isUnusual(aliquota: Decimal): boolean {
  return aliquota > ALIQUOTA_MAX || aliquota < ALIQUOTA_MIN;
}

/** Nine digits: what the column holds. */
function countOf(name: string, text: string | undefined, refuse: (problem: string) => void): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  refuse(`--${name} pede um número inteiro de até 9 algarismos; veio "${text.slice(0, 40)}".`);
  return undefined;
}

function guardaOf(text: string | undefined, refuse: (problem: string) => void): number | undefined {
  const dias = countOf('guarda-dias', text, refuse);
  if (dias === undefined || dias === 0 || (dias >= GUARDA_MIN_DIAS && dias <= GUARDA_MAX_DIAS)) return dias;
  refuse(
    `--guarda-dias pede 0, que guarda sempre, ou de ${GUARDA_MIN_DIAS} a ${GUARDA_MAX_DIAS}: as respostas que se repetem sob uma chave falam das notas por mais de três dias.`,
  );
  return undefined;
}

/** A century. */
const GUARDA_MAX_DIAS = 36_500;

/** What works, though perhaps not as it was meant. */
function incomplete(municipio: Municipio): string[] {
  const { ambiente, guardaDias } = municipio;
  const kept =
    ambiente === 'producao' && guardaDias !== undefined
      ? ['Em produção nada é apagado: --guarda-dias só vale em homologação.']
      : [];
  return [...kept, ...leftOpen(municipio)];
}

function leftOpen({ tenant, ambiente, adn, regrasNacionais, exigeNumero, exigeNotaNoEvento }: Municipio): string[] {
  if (!AMBIENTES[ambiente].transmits) {
    return adn === undefined ? [] : ['Em homologação nada é transmitido: o endereço do ADN fica guardado, sem uso.'];
  }
  return [
    ...(adn === undefined ? ['Sem --adn as notas são emitidas e ficam à espera: nada é transmitido ao ADN.'] : []),
    ...(regrasNacionais === 'avisa'
      ? [
          'Com --regras-nacionais avisar é emitida também a nota que o ADN deve recusar depois: ela fica em rascunho, e o prestador a refaz.',
        ]
      : []),
    ...(exigeNumero === true
      ? []
      : [
          `A DPS sem número é aceita: quem tiver uma, assinada pelo prestador, pode enviá-la de novo, e cada envio emite outra nota. Para fechar: nfse municipio alterar ${tenant} --exigir-numero`,
        ]),
    ...(exigeNotaNoEvento === true
      ? []
      : [
          `O evento cujo corpo não diz a nota é aceito: quem tiver um, assinado, pode registrá-lo em outra nota do mesmo autor. Para fechar: nfse municipio alterar ${tenant} --exigir-chave-no-evento`,
        ]),
  ];
}

function ambienteOf(text: string | undefined, refuse: (problem: string) => void): Ambiente | undefined {
  if (text === undefined || Object.hasOwn(AMBIENTES, text)) return text as Ambiente | undefined;
  refuse(`--ambiente ${text} não existe: use ${Object.keys(AMBIENTES).join(' ou ')}.`);
  return undefined;
}

/** As the operator writes them, and as they are stored. */
const REGRAS_NACIONAIS = { recusar: 'recusa', avisar: 'avisa' } as const;
const CONSULTAS_DPS = { publica: 'publica', parte: 'parte' } as const;
const SIM_NAO = { sim: true, nao: false } as const;

/** Of an XML namespace: an absolute address, of characters that need no escaping, no longer than the XML reader takes. */
const NAMESPACE = /^[A-Za-z][\w+.-]*:[^\s<>&"']{1,120}$/;

function namespaceOf(text: string | undefined, refuse: (problem: string) => void): string | undefined {
  if (text === undefined || NAMESPACE.test(text)) return text;
  refuse(`--soap-namespace ${text} não é um endereço completo, como http://www.exemplo.gov.br/nfse.xsd.`);
  return undefined;
}

function chosen<Name extends string, Value>(
  option: string,
  text: string | undefined,
  choices: Readonly<Record<Name, Value>>,
  refuse: (problem: string) => void,
): Value | undefined {
  if (text === undefined || Object.hasOwn(choices, text)) return choices[text as Name];
  refuse(`--${option} ${text} não existe: use ${Object.keys(choices).join(' ou ')}.`);
  return undefined;
}

function ibgeCodeOf(text: string | undefined, refuse: (problem: string) => void): string | undefined {
  if (text === undefined) return undefined;
  if (ibgeOf(text) === undefined) refuse(`--ibge ${text} não é o código IBGE, de 7 algarismos, de nenhum município.`);
  return text;
}

function aliquotaOf(text: string | undefined, refuse: (problem: string) => void): Decimal | undefined {
  if (text === undefined) return undefined;
  const aliquota = readPercent(text, ALIQUOTA_DA_NOTA_MAX);
  if (aliquota === undefined)
    refuse(`--aliquota ${text} não é um percentual de 0 a 9,99, com até duas casas decimais.`);
  return aliquota === undefined ? undefined : parseDecimal(aliquota);
}

/** `5`, `5.00`, `5,00`, as `5.00`; undefined when it is no percentage up to the highest. */
export function readPercent(text: string, highest: Decimal): string | undefined {
  const match = /^0*(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(text);
  if (match === null) return undefined;
  const aliquota = parseDecimal(`${match[1]}.${(match[2] ?? '').padEnd(2, '0')}`);
  return aliquota === undefined || aliquota > highest ? undefined : formatDecimal(aliquota);
}

function namesAdn({ adn, adnCa, adnCertificado, adnChave, adnPfx, adnSenhaArquivo }: Settings): boolean {
  return [adn, adnCa, adnCertificado, adnChave, adnPfx, adnSenhaArquivo].some((one) => one !== undefined);
}

function adnOf(
  current: AcessoAdn | undefined,
  settings: Settings,
  withoutCa: boolean,
  refuse: (problem: string) => void,
): AcessoAdn | undefined {
  if (!namesAdn(settings) && !(withoutCa && current !== undefined)) return current;
  const url = settings.adn === undefined ? current?.url : urlOf(settings.adn, refuse);
  if (settings.adn === undefined && url === undefined) refuse('Falta --adn, com o endereço do ADN: https://…');
  const chaves = chavesOf(current?.chaves, settings, refuse);
  if (url === undefined || chaves === undefined) return current;
  return { url, ca: withoutCa ? undefined : (absolute(settings.adnCa) ?? current?.ca), chaves };
}

/** The address as it is stored: without a slash at its end. */
function urlOf(text: string, refuse: (problem: string) => void): string | undefined {
  if (!URL.canParse(text)) {
    refuse(`--adn ${text} não é um endereço. Exemplo: https://adn.nfse.gov.br`);
    return undefined;
  }
  const url = new URL(text);
  if (url.protocol !== 'https:') refuse('--adn precisa começar por https://: o ADN só atende com certificados.');
  if (url.username !== '' || url.password !== '')
    refuse('--adn não leva usuário nem senha: o município se identifica pelo certificado.');
  if (url.search !== '' || url.hash !== '') refuse('--adn é só o endereço de base, sem ? nem #.');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function chavesOf(
  current: ChavesAdn | undefined,
  { adnCertificado, adnChave, adnPfx, adnSenhaArquivo }: Settings,
  refuse: (problem: string) => void,
): ChavesAdn | undefined {
  if (adnPfx !== undefined && (adnCertificado !== undefined || adnChave !== undefined)) {
    refuse('Use --adn-pfx, ou --adn-certificado com --adn-chave; não os dois.');
    return undefined;
  }
  const senha = absolute(adnSenhaArquivo);
  if (adnPfx !== undefined || (adnCertificado ?? adnChave) === undefined) {
    const before = current !== undefined && 'pfx' in current ? current : undefined;
    if (adnPfx === undefined && before === undefined) {
      // Nothing was said of the keys: those in use stay, a password in a file may be theirs.
      if (current !== undefined) return senha === undefined ? current : { ...current, senhaArquivo: senha };
      refuse(
        'Falta o certificado do município: --adn-certificado com --adn-chave, ou --adn-pfx com --adn-senha-arquivo.',
      );
      return undefined;
    }
    const senhaArquivo = senha ?? before?.senhaArquivo;
    if (senhaArquivo === undefined)
      refuse('Com --adn-pfx falta --adn-senha-arquivo: um arquivo com a senha na primeira linha.');
    return senhaArquivo === undefined ? undefined : { pfx: absolute(adnPfx) ?? before!.pfx, senhaArquivo };
  }
  const before = current !== undefined && 'certificado' in current ? current : undefined;
  const [certificado, chave] = [absolute(adnCertificado) ?? before?.certificado, absolute(adnChave) ?? before?.chave];
  if (certificado === undefined) refuse('Falta --adn-certificado, o certificado que é par de --adn-chave.');
  if (chave === undefined) refuse('Falta --adn-chave, a chave privada que é par de --adn-certificado.');
  if (certificado === undefined || chave === undefined) return undefined;
  // A new key has its own password, or none.
  const senhaArquivo = senha ?? (adnChave === undefined ? before?.senhaArquivo : undefined);
  return { certificado, chave, ...(senhaArquivo === undefined ? {} : { senhaArquivo }) };
}

function absolute(file: string | undefined): string | undefined {
  return file === undefined ? undefined : path.resolve(file);
}

export type MunicipioShown = {
  readonly municipio: Municipio;
  /** `São Paulo/SP`; undefined for the sandbox. */
  readonly nome: string | undefined;
  readonly certificado: CertificadoShown | undefined;
  /** Establishments of the registry, and lines of each list. */
  readonly prestadores: number;
  readonly listas: Readonly<Record<ListaNome, number>>;
  /** Undefined when nothing waits for the national environment. */
  readonly espera: Espera | undefined;
  /** Notes that wait for a rate; undefined when there are none. `desde`: when the oldest was issued. */
  readonly retidas: { readonly notas: number; readonly desde: string; readonly motivos: readonly string[] } | undefined;
  /** What the worker met last, as long as it lasts. */
  readonly transmissao: { readonly problema: string; readonly desde: string; readonly vistoEm: string } | undefined;
} & Inspection;

/** Moments as `DD/MM/AAAA HH:MM:SS`, by the clocks of the municipality. */
export type Espera = {
  readonly notas: number;
  /** When the oldest was issued. */
  readonly desde: string;
  /** Undefined: at any moment now. */
  readonly proxima: string | undefined;
};

/** `espera`: notes that wait for the national environment. */
export type MunicipioListed = Municipio & { readonly nome: string | undefined; readonly espera: number };

export async function listMunicipios(world: RegistryWorld): Promise<readonly MunicipioListed[]> {
  const listed = async (municipio: Municipio): Promise<MunicipioListed> => {
    const waiting = await world.store.notas.findWaiting(municipio.tenant);
    return { ...municipio, nome: nameOf(municipio), espera: waiting?.notas ?? 0 };
  };
  return Promise.all((await world.store.municipios.list()).map(listed));
}

/** With the files as they are now. Throws an Error in Portuguese when there is no such municipality. */
export async function showMunicipio(world: RegistryWorld, slug: string): Promise<MunicipioShown> {
  const municipio = await municipioNamed(world, slug);
  const { tenant } = municipio;
  const now = world.now();
  const [trust, adn, counts, waiting, problem, aliquotas, retidas] = await Promise.all([
    inspectConfianca(municipio.confianca, { now }),
    municipio.adn === undefined ? undefined : inspectAdn(municipio.adn, municipio.confianca, now),
    countsOf(world, tenant),
    world.store.notas.findWaiting(tenant),
    world.store.municipios.findProblem(tenant),
    avisosDeAliquotas(world),
    world.store.retidas.count(tenant),
  ]);
  const shown = (instant: number): string => {
    const { date, time } = momentIn(zoneOf(municipio.codigoIbge), instant);
    return `${brazilianDate(date)} ${time}`;
  };
  return {
    municipio,
    nome: nameOf(municipio),
    certificado: adn?.certificado,
    ...counts,
    espera: waiting && {
      notas: waiting.notas,
      desde: shown(waiting.desde),
      proxima: waiting.proxima <= now ? undefined : shown(waiting.proxima),
    },
    retidas: retidas && {
      notas: retidas.notas,
      desde: shown(retidas.desde),
      motivos: retidas.motivos.map(({ mensagem, notas }) => `${notas}: ${mensagem}`),
    },
    transmissao: problem && {
      problema: problem.problema,
      desde: shown(problem.desde),
      vistoEm: shown(problem.vistoEm),
    },
    problems: [...trust.problems, ...(adn?.problems ?? [])],
    avisos: [
      ...trust.avisos,
      ...(adn?.avisos ?? []),
      ...incomplete(municipio),
      ...remarksOnAddress(world, municipio),
      ...aliquotas,
    ],
  };
}

function nameOf({ codigoIbge }: Municipio): string | undefined {
  const municipio = codigoIbge === undefined ? undefined : ibgeOf(codigoIbge);
  return municipio && `${municipio.nome}/${municipio.uf}`;
}
