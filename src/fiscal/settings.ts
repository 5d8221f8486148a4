/**
 * What a municipality may set, one row a setting: its column, its option of `nfse municipio criar` and `alterar`, how the text of that
 * option is read, how the value is shown, and what the help says. The store, the commands and the type of a municipality are made of
 * these rows. What a setting does stands where it is read.
 */
import { AMBIENTES, type Ambiente, GUARDA_MIN_DIAS } from './ambiente.ts';
import { municipioOf as ibgeOf } from './catalogs/catalogs.ts';
import { type Decimal, formatDecimal, parseDecimal } from './decimal.ts';
import { groupDigits } from './group-digits.ts';
import { ALIQUOTA_DA_NOTA_MAX } from './iss.ts';

/** What the operator wrote does not do, in Portuguese. */
export type Problem = { readonly problems: readonly string[] };

const problem = (text: string): Problem => ({ problems: [text] });

/** How values stand in a column: `read` gets what is there, `write` gives what is to stand there. */
type Kind<Value> = {
  readonly sql: 'text' | 'numeric' | 'integer' | 'boolean';
  readonly read?: (stored: string) => Value;
  readonly write?: (value: Value) => unknown;
};

export type Setting<Value = unknown> = Kind<Value> & {
  readonly column: string;
  /** Without hyphens. */
  readonly option: string;
  /** What the option takes, for the help; none: it takes nothing, and the setting is on or off. */
  readonly takes?: string;
  readonly help: string;
  /** What counts in a new municipality where nothing is said. */
  readonly usual?: string;
  /** What taking it away does (`--sem-…`); none: it cannot be taken away. */
  readonly without?: string;
  /** A file or a folder: stored with its whole path. */
  readonly isPath?: true;
  /** A new municipality has it on. */
  readonly isOnAtFirst?: true;
  /** Reads what was written after the option; without it the text is the value. */
  readonly parse?: (text: string) => Value | Problem;
  readonly title: string;
  /** The value, or what counts without one. */
  readonly show: (value: Value | undefined, of: Circumstances) => string;
};

/** What the text of a value may depend on. */
type Circumstances = { readonly ambiente: Ambiente; readonly hasAdn: boolean };

const setting = <Value>(row: Setting<Value>): Setting<Value> => row;

const text = <Value extends string = string>(row: Omit<Setting<Value>, 'sql'>): Setting<Value> =>
  setting<Value>({ sql: 'text', ...row });
const path = (row: Omit<Setting<string>, 'sql' | 'isPath'>): Setting<string> => text({ isPath: true, ...row });
const count = (row: Omit<Setting<number>, 'sql' | 'takes'>): Setting<number> =>
  setting<number>({ sql: 'integer', takes: 'N', parse: (written) => parseCount(row.option, written), ...row });
/** On or off; a column that is never null. */
const flag = (row: Omit<Setting<boolean>, 'sql'>): Setting<boolean> => setting<boolean>({ sql: 'boolean', ...row });

const PRESET_OF_AMBIENTE = 'como no ambiente';
const POR_JANELA = '(por minuto em producao, por dia em homologacao)';

/** As the operator writes them, and as they are stored. */
const REGRAS_NACIONAIS = { recusar: 'recusa', avisar: 'avisa' } as const;
const COMPRESSOES = { usual: 'usual', nenhuma: 'nenhuma' } as const;
const CONSULTAS_DPS = { publica: 'publica', parte: 'parte' } as const;
const SIM_NAO = { sim: true, nao: false } as const;

const SETTINGS_ROWS = {
  ambiente: text<Ambiente>({
    column: 'ambiente',
    option: 'ambiente',
    takes: 'NOME',
    help: 'producao ou homologacao',
    usual: 'producao',
    parse: (written) =>
      Object.hasOwn(AMBIENTES, written)
        ? (written as Ambiente)
        : problem(`--ambiente ${written} não existe: use ${Object.keys(AMBIENTES).join(' ou ')}.`),
    title: 'ambiente',
    show: (ambiente) => ambiente!,
  }),
  codigoIbge: text({
    column: 'codigo_ibge',
    option: 'ibge',
    takes: 'CÓDIGO',
    help: 'código IBGE do município, 7 algarismos',
    parse: (written) =>
      ibgeOf(written) === undefined
        ? problem(`--ibge ${written} não é o código IBGE, de 7 algarismos, de nenhum município.`)
        : written,
    title: 'código IBGE',
    show: (codigo) => codigo ?? 'qualquer um',
  }),
  /** ISS rate of every service while there is no service list. */
  aliquotaPadrao: setting<Decimal>({
    column: 'aliquota_padrao',
    sql: 'numeric',
    read: (stored) => parseDecimal(stored)!,
    write: formatDecimal,
    option: 'aliquota',
    takes: '5.00',
    help: 'ISS de todo serviço enquanto não há lista de serviços importada',
    usual: 'a da DPS',
    without: 'vale a alíquota da DPS',
    parse: parseAliquota,
    title: 'alíquota',
    show: (aliquota) => (aliquota === undefined ? 'a da DPS' : `${formatDecimal(aliquota)} %`),
  }),
  ancoras: path({
    column: 'ancoras',
    option: 'ancoras',
    takes: 'PASTA',
    help: 'certificados das autoridades em que se confia, PEM',
    usual: 'as raízes da ICP-Brasil',
    without: 'volta às raízes da ICP-Brasil',
    title: 'âncoras',
    show: (pasta) => pasta ?? 'raízes da ICP-Brasil',
  }),
  revogados: path({
    column: 'revogados',
    option: 'revogados',
    takes: 'PASTA',
    help: 'listas de certificados revogados (LCR), PEM ou DER',
    without: 'deixa de consultar listas de revogados',
    title: 'revogados',
    show: (pasta) => pasta ?? 'não consultados',
  }),
  adnUrl: text({
    column: 'adn_url',
    option: 'adn',
    takes: 'https://…',
    help: 'endereço do ambiente nacional',
    without: 'deixa de transmitir; as notas ficam à espera',
    parse: parseAdnUrl,
    title: 'ADN',
    show: (url) => url ?? 'não configurado',
  }),
  adnCa: path({
    column: 'adn_ca',
    option: 'adn-ca',
    takes: 'ARQUIVO',
    help: 'quem assina o certificado do ADN, PEM',
    usual: 'as autoridades do sistema',
    without: 'volta às autoridades do sistema',
    title: 'CA do ADN',
    show: (ca, { hasAdn }) => ca ?? (hasAdn ? 'autoridades do sistema' : 'nenhuma'),
  }),
  adnCertificado: path({
    column: 'adn_certificado',
    option: 'adn-certificado',
    takes: 'ARQUIVO',
    help: 'certificado do município, PEM, com que se identifica e assina',
    title: 'certificado',
    show: (arquivo) => arquivo ?? 'nenhum',
  }),
  adnChave: path({
    column: 'adn_chave',
    option: 'adn-chave',
    takes: 'ARQUIVO',
    help: 'chave privada desse certificado, PEM',
    title: 'chave',
    show: (arquivo) => arquivo ?? 'nenhuma',
  }),
  adnPfx: path({
    column: 'adn_pfx',
    option: 'adn-pfx',
    takes: 'ARQUIVO',
    help: 'certificado e chave num arquivo só (.pfx ou .p12), no lugar dos dois',
    title: 'PFX',
    show: (arquivo) => arquivo ?? 'nenhum',
  }),
  adnSenhaArquivo: path({
    column: 'adn_senha_arquivo',
    option: 'adn-senha-arquivo',
    takes: 'ARQUIVO',
    help: 'arquivo com a senha na primeira linha',
    title: 'senha em',
    show: (arquivo) => arquivo ?? 'nenhum arquivo',
  }),
  /** How documents are packed for the ADN (D-384). */
  adnCompressao: text<'usual' | 'nenhuma'>({
    column: 'adn_compressao',
    option: 'adn-compressao',
    takes: 'usual|nenhuma',
    help: 'o gzip dos documentos enviados ao ADN; nenhuma poupa processador e quase dobra os bytes enviados',
    usual: 'usual',
    parse: (written) => chooseValue('adn-compressao', written, COMPRESSOES),
    title: 'gzip ao ADN',
    show: (compressao) => compressao ?? 'usual',
  }),
  /** What a national rule does that the specification does not name (D-86). */
  regrasNacionais: text<'recusa' | 'avisa'>({
    column: 'regras_nacionais',
    option: 'regras-nacionais',
    takes: 'recusar|avisar',
    help: 'o que faz uma regra nacional que a especificação do serviço não traz',
    usual: 'recusar em producao, avisar em homologacao',
    without: 'volta ao do ambiente: recusar em producao, avisar em homologacao',
    parse: (written) => chooseValue('regras-nacionais', written, REGRAS_NACIONAIS),
    title: 'regras nacionais',
    show: (regras, { ambiente }) => {
      const word = (regras ?? AMBIENTES[ambiente].regrasNacionais) === 'recusa' ? 'recusar' : 'avisar';
      return regras === undefined ? `${word}, ${PRESET_OF_AMBIENTE}` : word;
    },
  }),
  /** Who may read a note by the identifier of its DPS (D-41). */
  consultaDps: text<'publica' | 'parte'>({
    column: 'consulta_dps',
    option: 'consulta-dps',
    takes: 'publica|parte',
    help: 'quem lê a nota pelo identificador da DPS, e no porto SOAP por período e por RPS: todos, ou uma parte dela com o seu certificado',
    usual: 'parte em producao, publica em homologacao',
    without: 'volta ao do ambiente: parte em producao, publica em homologacao',
    parse: (written) => chooseValue('consulta-dps', written, CONSULTAS_DPS),
    title: 'consulta da DPS',
    show: (consulta, { ambiente }) =>
      consulta ?? `${AMBIENTES[ambiente].dpsQueryIsOpen ? 'publica' : 'parte'}, ${PRESET_OF_AMBIENTE}`,
  }),
  /** The legacy port takes RSA-SHA1 with inclusive canonicalisation too (D-70). */
  soapSha1: flag({
    column: 'soap_sha1',
    option: 'soap-sha1',
    takes: 'sim|nao',
    help: 'aceita no porto SOAP legado as assinaturas de 2008: RSA-SHA1 com C14N inclusiva, e o documento inteiro (URI="")',
    usual: 'nao',
    parse: (written) => chooseValue('soap-sha1', written, SIM_NAO),
    title: 'SHA-1 no SOAP',
    show: (isTaken) => (isTaken ? 'aceito' : 'não aceito'),
  }),
  /** Target namespace of the legacy port. */
  soapNamespace: text({
    column: 'soap_namespace',
    option: 'soap-namespace',
    takes: 'URI',
    help: 'espaço de nomes da descrição do porto SOAP legado',
    usual: 'o da ABRASF 1.00',
    without: 'volta ao da ABRASF 1.00',
    parse: (written) =>
      NAMESPACE.test(written)
        ? written
        : problem(`--soap-namespace ${written} não é um endereço completo, como http://www.exemplo.gov.br/nfse.xsd.`),
    title: 'namespace SOAP',
    show: (uri) => uri ?? 'o da ABRASF 1.00',
  }),
  /** A DPS without number is refused (D-215). */
  exigeNumero: flag({
    column: 'exige_numero',
    option: 'exigir-numero',
    help: 'recusa a DPS sem nDPS (E002), para que nenhum reenvio emita uma segunda nota',
    usual: 'recusa-a',
    without: 'aceita a DPS sem nDPS, e a numera',
    isOnAtFirst: true,
    title: 'DPS sem número',
    show: (isRefused) => (isRefused ? 'recusada' : 'aceita, e numerada'),
  }),
  /** The request of an event that does not name its note is refused (D-228). */
  exigeNotaNoEvento: flag({
    column: 'exige_nota_no_evento',
    option: 'exigir-chave-no-evento',
    help: 'recusa o evento cujo corpo não diz a nota, em chave_acesso ou numero_protocolo (E002), para que o que se assinou para uma não sirva em outra',
    usual: 'recusa-o',
    without: 'aceita o evento cujo corpo não diz a nota',
    isOnAtFirst: true,
    title: 'evento sem nota',
    show: (isRefused) => (isRefused ? 'recusado' : 'aceito'),
  }),
  /** It answers questions, and nothing else happens: it is on its way to another server (D-436). */
  fechado: flag({
    column: 'fechado',
    option: 'fechar',
    help: 'fecha o município: as consultas seguem, e nada é emitido, registrado nem transmitido (503)',
    without: 'reabre o município; só depois de ter certeza de que nenhum outro servidor o atende',
    title: 'atendimento',
    show: (isClosed) => (isClosed ? 'fechado: só consultas' : 'aberto'),
  }),
  /** Documents of an address of the network in the time of the ambiente; 0: no limit. */
  limiteEndereco: count({
    column: 'limite_endereco',
    option: 'limite-endereco',
    help: `documentos de um endereço de rede ${POR_JANELA}; 0 retira o limite`,
    usual: limitesText('endereco'),
    without: 'volta ao do ambiente',
    title: 'por endereço',
    show: (limite, { ambiente }) => limiteText('endereco', limite, ambiente),
  }),
  /** The same of a provider. */
  limitePrestador: count({
    column: 'limite_prestador',
    option: 'limite-prestador',
    help: `documentos de um prestador ${POR_JANELA}; 0 retira o limite`,
    usual: limitesText('prestador'),
    without: 'volta ao do ambiente',
    title: 'por prestador',
    show: (limite, { ambiente }) => limiteText('prestador', limite, ambiente),
  }),
  /** Days that a rehearsal keeps what it stores; 0: for ever. */
  guardaDias: count({
    column: 'guarda_dias',
    option: 'guarda-dias',
    help: 'dias em que se guarda o que um ensaio (homologacao) emite; 0 guarda sempre. Em producao nada é apagado',
    usual: `${AMBIENTES.homologacao.guardaDias}`,
    without: 'volta ao do ambiente',
    parse: parseGuarda,
    title: 'guarda',
    show: (dias, { ambiente }) => {
      const usual = AMBIENTES[ambiente].guardaDias;
      if (usual === undefined || dias === 0) return 'sempre';
      return dias === undefined ? `${usual} dias, ${PRESET_OF_AMBIENTE}` : `${dias} dias`;
    },
  }),
};

export type SettingName = keyof typeof SETTINGS_ROWS;
type ValueOf<Name extends SettingName> = (typeof SETTINGS_ROWS)[Name] extends Setting<infer Value> ? Value : never;
/** Every setting under its name; what is not set is undefined. */
export type SettingValues = { readonly [Name in SettingName]?: ValueOf<Name> | undefined };

export const SETTINGS = Object.entries(SETTINGS_ROWS) as unknown as readonly (readonly [SettingName, Setting])[];

const OF_ADN = ['adnUrl', 'adnCa', 'adnCertificado', 'adnChave', 'adnPfx', 'adnSenhaArquivo'] as const;
const GROUPED = ['ancoras', 'revogados', ...OF_ADN] as const;
const ALWAYS = ['ambiente', 'codigoIbge', 'aliquotaPadrao', 'regrasNacionais', 'consultaDps'] as const;
type Plain = Exclude<SettingName, (typeof GROUPED)[number] | (typeof ALWAYS)[number]>;

/** A municipality and what it has set. */
export type Municipio = {
  /** Its slug. */
  readonly tenant: string;
  readonly ambiente: Ambiente;
  readonly confianca: Confianca;
  readonly adn: AcessoAdn | undefined;
} & {
  /** Of {@link SETTINGS}; undefined of `codigoIbge`: the sandbox, which is every municipality's. */
  readonly [Name in Exclude<(typeof ALWAYS)[number], 'ambiente'>]: ValueOf<Name> | undefined;
} & { readonly [Name in Plain]?: ValueOf<Name> | undefined };

/** Directories, absolute; without `ancoras` the national roots that come with the program. */
export type Confianca = { readonly ancoras: string | undefined; readonly revogados: string | undefined };

/** Files, absolute; without `ca` the authorities that the operating system trusts. */
export type AcessoAdn = { readonly url: string; readonly ca: string | undefined; readonly chaves: ChavesAdn };

/** `senhaArquivo`: a file with the password in its first line; a key in PEM may have none. */
export type ChavesAdn =
  | { readonly certificado: string; readonly chave: string; readonly senhaArquivo?: string | undefined }
  | { readonly pfx: string; readonly senhaArquivo: string };

/** A municipality as it is opened: what is not said is not set. */
export type NovoMunicipio = Pick<Municipio, 'tenant' | 'ambiente' | 'codigoIbge'> & Partial<Municipio>;

/** The settings of a municipality, each under its own name. */
export function settingsOf({ tenant: _, confianca, adn, ...plain }: NovoMunicipio): SettingValues {
  const { certificado, chave, pfx, senhaArquivo }: Partial<Record<string, string>> = adn?.chaves ?? {};
  const access = { adnUrl: adn?.url, adnCa: adn?.ca, adnPfx: pfx, adnSenhaArquivo: senhaArquivo };
  return { ...plain, ...confianca, ...access, adnCertificado: certificado, adnChave: chave };
}

/** The municipality that has these settings. The constraint of the table has keys wherever there is an address. */
export function withSettings(tenant: string, values: SettingValues): Municipio {
  const { ancoras, revogados, adnUrl, adnCa, adnCertificado, adnChave, adnPfx, adnSenhaArquivo, ...plain } = values;
  const chaves =
    adnPfx === undefined
      ? { certificado: adnCertificado!, chave: adnChave!, senhaArquivo: adnSenhaArquivo }
      : { pfx: adnPfx, senhaArquivo: adnSenhaArquivo! };
  const adn = adnUrl === undefined ? undefined : { url: adnUrl, ca: adnCa, chaves };
  return { ...(plain as Municipio), tenant, confianca: { ancoras, revogados }, adn };
}

/** Whether a setting is one of those that speak of the ADN. */
export function isOfAdn(name: SettingName): boolean {
  return (OF_ADN as readonly SettingName[]).includes(name);
}

/** Whether a setting is a choice of its own, and no part of who the municipality is, whom it trusts and how it transmits. */
export function isChoice(name: SettingName): boolean {
  return !['ambiente', 'codigoIbge', 'aliquotaPadrao', ...GROUPED].includes(name);
}

/** A setting with its title, as it is shown. */
export function showSetting(
  [name, { title, show }]: (typeof SETTINGS)[number],
  municipio: Municipio,
): readonly [string, string] {
  const { ambiente, adn } = municipio;
  return [title, show(settingsOf(municipio)[name], { ambiente, hasAdn: adn !== undefined })];
}

/** Of an XML namespace: an absolute address, of characters that need no escaping, no longer than the XML reader takes. */
const NAMESPACE = /^[A-Za-z][\w+.-]*:[^\s<>&"']{1,120}$/;

function chooseValue<Name extends string, Value>(
  option: string,
  written: string,
  choices: Readonly<Record<Name, Value>>,
): Value | Problem {
  if (Object.hasOwn(choices, written)) return choices[written as Name];
  return problem(`--${option} ${written} não existe: use ${Object.keys(choices).join(' ou ')}.`);
}

/** Nine digits: what the column holds. */
function parseCount(option: string, written: string): number | Problem {
  if (/^\d{1,9}$/.test(written)) return Number(written);
  return problem(`--${option} pede um número inteiro de até 9 algarismos; veio "${written.slice(0, 40)}".`);
}

/** A century. */
const GUARDA_MAX_DIAS = 36_500;

function parseGuarda(written: string): number | Problem {
  const dias = parseCount('guarda-dias', written);
  if (typeof dias !== 'number' || dias === 0 || (dias >= GUARDA_MIN_DIAS && dias <= GUARDA_MAX_DIAS)) return dias;
  return problem(
    `--guarda-dias pede 0, que guarda sempre, ou de ${GUARDA_MIN_DIAS} a ${GUARDA_MAX_DIAS}: as respostas que se repetem sob uma chave falam das notas por mais de três dias.`,
  );
}

function parseAliquota(written: string): Decimal | Problem {
  const aliquota = readPercent(written, ALIQUOTA_DA_NOTA_MAX);
  if (aliquota !== undefined) return parseDecimal(aliquota)!;
  return problem(`--aliquota ${written} não é um percentual de 0 a 9,99, com até duas casas decimais.`);
}

/** `5`, `5.00`, `5,00`, as `5.00`; undefined when it is no percentage up to the highest. */
export function readPercent(written: string, highest: Decimal): string | undefined {
  const match = /^0*(\d{1,3})(?:[.,](\d{1,2}))?$/.exec(written);
  if (match === null) return undefined;
  const aliquota = parseDecimal(`${match[1]}.${(match[2] ?? '').padEnd(2, '0')}`);
  return aliquota === undefined || aliquota > highest ? undefined : formatDecimal(aliquota);
}

/** The address as it is stored: without a slash at its end. */
function parseAdnUrl(written: string): string | Problem {
  if (!URL.canParse(written)) {
    return problem(`--adn ${written} não é um endereço. Exemplo: https://adn.nfse.gov.br`);
  }
  const url = new URL(written);
  const problems = [
    url.protocol !== 'https:' && '--adn precisa começar por https://: o ADN só atende com certificados.',
    (url.username !== '' || url.password !== '') &&
      '--adn não leva usuário nem senha: o município se identifica pelo certificado.',
    (url.search !== '' || url.hash !== '') && '--adn é só o endereço de base, sem ? nem #.',
  ].filter((one) => one !== false);
  return problems.length > 0 ? { problems } : `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function limitesText(de: 'endereco' | 'prestador'): string {
  const [producao, homologacao] = [AMBIENTES.producao, AMBIENTES.homologacao].map(({ limites }) =>
    groupDigits(limites[de]),
  );
  return `${producao} em producao, ${homologacao} em homologacao`;
}

function limiteText(de: 'endereco' | 'prestador', own: number | undefined, ambiente: Ambiente): string {
  if (own === 0) return 'nenhum';
  const { limites } = AMBIENTES[ambiente];
  const limite = `${groupDigits(own ?? limites[de])} documentos por ${limites.janelaS === 60 ? 'minuto' : 'dia'}`;
  return own === undefined ? `${limite}, ${PRESET_OF_AMBIENTE}` : limite;
}
