/**
 * The settings of a municipality, one per row. A row has its column, its option of `nfse municipio criar` and `alterar`, the parser, the
 * display, and the help text. The store, the commands and the type of a municipality are made of these rows. The effect of a setting is
 * described where it is used.
 */
import type { Aliquota } from './aliquotas-ibs-cbs.ts';
import { AMBIENTES, type Ambiente, NOMES_DOS_AMBIENTES } from './ambiente.ts';
import { municipioOf as ibgeOf } from './catalogs/catalogs.ts';
import { chooseText } from './cor.ts';
import { type Decimal, formatDecimal, parseDecimal } from './decimal.ts';
import {
  chooseValue,
  limitesText,
  limiteText,
  NAMESPACE,
  PRESET_OF_AMBIENTE,
  type Problem,
  parseAdnUrl,
  parseAliquota,
  parseCor,
  parseCount,
  parseGuarda,
  problem,
} from './settings-text.ts';

/** The form of values in a column: `read` converts from it, `write` to it. */
type Kind<Value> = {
  readonly sql: 'text' | 'numeric' | 'integer' | 'boolean';
  readonly read?: (stored: string) => Value;
  readonly write?: (value: Value) => unknown;
};

export type Setting<Value = unknown> = Kind<Value> & {
  readonly column: string;
  /** The name without leading hyphens. */
  readonly option: string;
  /** The argument of the option, for the help; absent: the option takes none, and the setting is on or off. */
  readonly takes?: string;
  readonly help: string;
  /** The default in a new municipality. */
  readonly usual?: string;
  /** The effect of removing the setting (`--sem-…`); absent: it cannot be removed. */
  readonly without?: string;
  /** A file or a folder: stored with its absolute path. */
  readonly isPath?: true;
  /**
   * The setting names files of the machine, addresses, or the identity of the municipality. Only the operator of the machine changes it, by
   * command.
   */
  readonly byCommand?: true;
  /** The setting is on in a new municipality. */
  readonly isOnAtFirst?: true;
  /** The accepted texts, with the value of each; `parse` is then made of them. */
  readonly choices?: Readonly<Record<string, Value>>;
  /** Parses the argument of the option; without a parser the text is the value. A problem follows the name of the option. */
  readonly parse?: (text: string) => Value | Problem;
  readonly title: string;
  /** The group in which the setting is shown; by default the rules of the service. */
  readonly group?: SettingGroup;
  /** The display of the value, or of the default without one. */
  readonly show: (value: Value | undefined, of: Circumstances) => string;
};

/** The groups of settings in the order in which they are shown, with their titles. */
export const SETTING_GROUPS = {
  municipio: 'Identificação',
  regras: 'Regras do serviço',
  limites: 'Limites e guarda',
  soap: 'Serviço SOAP legado',
  confianca: 'Em quem confia',
  adn: 'Ambiente nacional (ADN)',
} as const;
type SettingGroup = keyof typeof SETTING_GROUPS;

/** The circumstances that the text of a value may depend on. */
type Circumstances = { readonly ambiente: Ambiente; readonly hasAdn: boolean };

const setting = <Value>(row: Setting<Value>): Setting<Value> => {
  const { choices } = row;
  return choices === undefined ? row : { parse: (written) => chooseValue(written, choices), ...row };
};

const text = <Value extends string = string>(row: Omit<Setting<Value>, 'sql'>): Setting<Value> =>
  setting<Value>({ sql: 'text', ...row });
const path = (row: Omit<Setting<string>, 'sql' | 'isPath' | 'byCommand'>): Setting<string> =>
  text({ isPath: true, byCommand: true, ...row });
const count = (row: Omit<Setting<number>, 'sql' | 'takes'>): Setting<number> =>
  setting<number>({ sql: 'integer', takes: 'N', parse: parseCount, ...row });
/** A setting that is on or off; its column is never null. */
const flag = (row: Omit<Setting<boolean>, 'sql'>): Setting<boolean> => setting<boolean>({ sql: 'boolean', ...row });

const POR_JANELA = '(por minuto em produção, por dia em homologação)';

/** The operator's words, and the stored values. */
const REGRAS_NACIONAIS = { recusar: 'recusa', avisar: 'avisa' } as const;
const COMPRESSOES = { usual: 'usual', nenhuma: 'nenhuma' } as const;
const CONSULTAS_DPS = { publica: 'publica', parte: 'parte' } as const;
const ASSINATURAS_NACIONAIS = { sha256: 'sha256', sha1: 'sha1' } as const;
const SIM_NAO = { sim: true, nao: false } as const;

const SETTINGS_ROWS = {
  ambiente: text<Ambiente>({
    column: 'ambiente',
    option: 'ambiente',
    byCommand: true,
    group: 'municipio',
    takes: 'producao|homologacao',
    help: 'produção, onde as notas valem, ou homologação, onde se testa',
    usual: 'producao',
    choices: Object.fromEntries(Object.keys(AMBIENTES).map((one) => [one, one as Ambiente])),
    title: 'ambiente',
    show: (ambiente) => NOMES_DOS_AMBIENTES[ambiente!],
  }),
  codigoIbge: text({
    column: 'codigo_ibge',
    option: 'ibge',
    byCommand: true,
    group: 'municipio',
    takes: 'CÓDIGO',
    help: 'código IBGE do município, 7 dígitos',
    parse: (written) =>
      ibgeOf(written) === undefined
        ? problem(`${written} não é o código IBGE, de 7 dígitos, de nenhum município.`)
        : written,
    title: 'código IBGE',
    show: (codigo) => codigo ?? 'qualquer um',
  }),
  /** The colour of the bar of the console and of the public pages. */
  cor: text({
    column: 'cor',
    option: 'cor',
    group: 'municipio',
    takes: '#RRGGBB',
    help: 'a cor da barra do console e das páginas públicas, em seis dígitos hexadecimais, como #1351b4; o texto fica branco ou preto, o que mais contrasta',
    usual: 'nenhuma',
    without: 'volta à barra sem cor',
    parse: parseCor,
    title: 'cor da barra',
    show: (cor) => {
      if (cor === undefined) return 'nenhuma';
      const { nome, contraste } = chooseText(cor);
      return `${cor}, com texto ${nome} (contraste de ${contraste.toFixed(1).replace('.', ',')} para 1)`;
    },
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
    group: 'confianca',
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
    group: 'confianca',
    takes: 'PASTA',
    help: 'listas de certificados revogados (LCR), PEM ou DER',
    without: 'deixa de consultar listas de revogados',
    title: 'revogados',
    show: (pasta) => pasta ?? 'não consultados',
  }),
  adnUrl: text({
    column: 'adn_url',
    option: 'adn',
    byCommand: true,
    group: 'adn',
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
    group: 'adn',
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
    group: 'adn',
    takes: 'ARQUIVO',
    help: 'certificado do município, PEM, com que se identifica e assina',
    title: 'certificado',
    show: (arquivo) => arquivo ?? 'nenhum',
  }),
  adnChave: path({
    column: 'adn_chave',
    option: 'adn-chave',
    group: 'adn',
    takes: 'ARQUIVO',
    help: 'chave privada desse certificado, PEM',
    title: 'chave',
    show: (arquivo) => arquivo ?? 'nenhuma',
  }),
  adnPfx: path({
    column: 'adn_pfx',
    option: 'adn-pfx',
    group: 'adn',
    takes: 'ARQUIVO',
    help: 'certificado e chave num arquivo só (.pfx ou .p12), no lugar dos dois',
    title: 'PFX',
    show: (arquivo) => arquivo ?? 'nenhum',
  }),
  adnSenhaArquivo: path({
    column: 'adn_senha_arquivo',
    option: 'adn-senha-arquivo',
    group: 'adn',
    takes: 'ARQUIVO',
    help: 'arquivo com a senha na primeira linha',
    title: 'senha em',
    show: (arquivo) => arquivo ?? 'nenhum arquivo',
  }),
  /** The compression of documents for the ADN (D-384). */
  adnCompressao: text<'usual' | 'nenhuma'>({
    column: 'adn_compressao',
    option: 'adn-compressao',
    byCommand: true,
    group: 'adn',
    takes: 'usual|nenhuma',
    help: 'o gzip dos documentos enviados ao ADN; nenhuma poupa processador e quase dobra os bytes enviados',
    usual: 'usual',
    choices: COMPRESSOES,
    title: 'gzip ao ADN',
    show: (compressao) => compressao ?? 'usual',
  }),
  /** The effect of a national rule that the specification does not name (D-86). */
  regrasNacionais: text<'recusa' | 'avisa'>({
    column: 'regras_nacionais',
    option: 'regras-nacionais',
    takes: 'recusar|avisar',
    help: 'o que faz uma regra nacional que a especificação do serviço não traz',
    usual: 'recusar em produção, avisar em homologação',
    without: 'volta ao do ambiente: recusar em produção, avisar em homologação',
    choices: REGRAS_NACIONAIS,
    title: 'regras nacionais',
    show: (regras, { ambiente }) => {
      const word = (regras ?? AMBIENTES[ambiente].regrasNacionais) === 'recusa' ? 'recusar' : 'avisar';
      return regras === undefined ? `${word}, ${PRESET_OF_AMBIENTE}` : word;
    },
  }),
  /** The clients that may read a note by the identifier of its DPS (D-41). */
  consultaDps: text<'publica' | 'parte'>({
    column: 'consulta_dps',
    option: 'consulta-dps',
    takes: 'publica|parte',
    help: 'quem lê a nota pelo identificador da DPS, e no serviço SOAP por período e por RPS: todos, ou uma parte dela com o seu certificado',
    usual: 'parte em produção, publica em homologação',
    without: 'volta ao do ambiente: parte em produção, publica em homologação',
    choices: CONSULTAS_DPS,
    title: 'consulta da DPS',
    show: (consulta, { ambiente }) =>
      consulta ?? `${AMBIENTES[ambiente].dpsQueryIsOpen ? 'publica' : 'parte'}, ${PRESET_OF_AMBIENTE}`,
  }),
  /** The national door accepts signatures with SHA-1 too (D-910). */
  assinaturaNacional: text<'sha256' | 'sha1'>({
    column: 'assinatura_nacional',
    option: 'assinatura-nacional',
    takes: 'sha256|sha1',
    help: 'o que a porta nacional aceita numa assinatura: só SHA-256, ou também SHA-1, que já se falsifica e que muitas bibliotecas da API nacional ainda usam',
    usual: 'sha256',
    without: 'volta a só SHA-256',
    choices: ASSINATURAS_NACIONAIS,
    title: 'porta nacional',
    show: (taken) => (taken === 'sha1' ? 'assinaturas em SHA-256 e SHA-1' : 'assinaturas em SHA-256'),
  }),
  /** The legacy port accepts RSA-SHA1 with inclusive canonicalisation too (D-70). */
  soapSha1: flag({
    column: 'soap_sha1',
    option: 'soap-sha1',
    group: 'soap',
    takes: 'sim|nao',
    help: 'aceita no serviço SOAP legado as assinaturas de 2008: RSA-SHA1 com C14N inclusiva, e o documento inteiro (URI="")',
    usual: 'nao',
    choices: SIM_NAO,
    title: 'SHA-1 no SOAP',
    show: (isTaken) => (isTaken ? 'aceito' : 'não aceito'),
  }),
  /** Target namespace of the legacy port. */
  soapNamespace: text({
    column: 'soap_namespace',
    option: 'soap-namespace',
    group: 'soap',
    takes: 'URI',
    help: 'espaço de nomes da descrição do serviço SOAP legado',
    usual: 'o da ABRASF 1.00',
    without: 'volta ao da ABRASF 1.00',
    parse: (written) =>
      NAMESPACE.test(written)
        ? written
        : problem(`${written} não é um endereço completo, como http://www.exemplo.gov.br/nfse.xsd.`),
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
  /** The request of an event that does not name its note is refused (D-215). */
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
  /** The municipality only answers queries, and nothing else happens: it is moving to another server (D-436). */
  fechado: flag({
    column: 'fechado',
    option: 'fechar',
    byCommand: true,
    help: 'fecha o município: as consultas seguem, e nada é emitido, registrado nem transmitido (503)',
    without: 'reabre o município; só depois de ter certeza de que nenhum outro servidor o atende',
    title: 'atendimento',
    show: (isClosed) => (isClosed ? 'fechado: só consultas' : 'aberto'),
  }),
  /** Documents per network address in the window of the ambiente; 0: no limit. */
  limiteEndereco: count({
    column: 'limite_endereco',
    option: 'limite-endereco',
    group: 'limites',
    help: `documentos de um endereço de rede ${POR_JANELA}; 0 retira o limite`,
    usual: limitesText('endereco'),
    without: 'volta ao do ambiente',
    title: 'por endereço',
    show: (limite, { ambiente }) => limiteText('endereco', limite, ambiente),
  }),
  /** The same limit per provider. */
  limitePrestador: count({
    column: 'limite_prestador',
    option: 'limite-prestador',
    group: 'limites',
    help: `documentos de um prestador ${POR_JANELA}; 0 retira o limite`,
    usual: limitesText('prestador'),
    without: 'volta ao do ambiente',
    title: 'por prestador',
    show: (limite, { ambiente }) => limiteText('prestador', limite, ambiente),
  }),
  /** Days that a rehearsal keeps its data; 0: for ever. */
  guardaDias: count({
    column: 'guarda_dias',
    option: 'guarda-dias',
    group: 'limites',
    help: 'dias em que se guarda o que um ensaio (homologação) emite; 0 guarda sempre. Em produção nada é apagado',
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
/** Every setting under its name; a setting that is not set is undefined. */
export type SettingValues = { readonly [Name in SettingName]?: ValueOf<Name> | undefined };

export const SETTINGS = Object.entries(SETTINGS_ROWS) as unknown as readonly (readonly [SettingName, Setting])[];

const OF_ADN = ['adnUrl', 'adnCa', 'adnCertificado', 'adnChave', 'adnPfx', 'adnSenhaArquivo'] as const;
const GROUPED = ['ancoras', 'revogados', ...OF_ADN] as const;
const ALWAYS = ['ambiente', 'codigoIbge', 'aliquotaPadrao', 'regrasNacionais', 'consultaDps'] as const;
type Plain = Exclude<SettingName, (typeof GROUPED)[number] | (typeof ALWAYS)[number]>;

/** A municipality and its settings. */
export type Municipio = {
  /** Its slug. */
  readonly tenant: string;
  readonly ambiente: Ambiente;
  readonly confianca: Confianca;
  readonly adn: AcessoAdn | undefined;
} & {
  /** Values of {@link SETTINGS}; `codigoIbge` undefined: the sandbox, which counts as every municipality. */
  readonly [Name in Exclude<(typeof ALWAYS)[number], 'ambiente'>]: ValueOf<Name> | undefined;
} & { readonly [Name in Plain]?: ValueOf<Name> | undefined } & {
  /** The lead of its clock over that of the machine, in milliseconds. Only a tenant's own sandbox has one. */
  readonly relogioMs?: number;
  /** Set only in a tenant's own sandbox: providers must be registered and authorised, as in production. */
  readonly exigeCadastro?: true;
  /** The expiry of a tenant's own sandbox, in milliseconds. */
  readonly ensaioAte?: number;
  /** Its own rates, which precede the national ones. Only a tenant's own sandbox has them. */
  readonly aliquotasIbsCbs?: readonly Aliquota[];
  /** SHA-256 of its arms, in hexadecimal digits; an image is no setting. */
  readonly brasao?: string;
};

/** Directories, absolute; without `ancoras` the national roots that come with the program are used. */
export type Confianca = { readonly ancoras: string | undefined; readonly revogados: string | undefined };

/** Files, absolute; without `ca` the authorities of the operating system are trusted. */
export type AcessoAdn = { readonly url: string; readonly ca: string | undefined; readonly chaves: ChavesAdn };

/** `senhaArquivo`: a file with the password in its first line; a key in PEM may have none. */
export type ChavesAdn =
  | { readonly certificado: string; readonly chave: string; readonly senhaArquivo?: string | undefined }
  | { readonly pfx: string; readonly senhaArquivo: string };

/** A municipality to be created: missing settings are unset. */
export type NovoMunicipio = Pick<Municipio, 'tenant' | 'ambiente' | 'codigoIbge'> & Partial<Municipio>;

/** The settings of a municipality, each under its own name. */
export function settingsOf({
  tenant: _,
  relogioMs: _r,
  exigeCadastro: _c,
  ensaioAte: _e,
  aliquotasIbsCbs: _a,
  brasao: _b,
  confianca,
  adn,
  ...plain
}: NovoMunicipio): SettingValues {
  const { certificado, chave, pfx, senhaArquivo }: Partial<Record<string, string>> = adn?.chaves ?? {};
  const access = { adnUrl: adn?.url, adnCa: adn?.ca, adnPfx: pfx, adnSenhaArquivo: senhaArquivo };
  return { ...plain, ...confianca, ...access, adnCertificado: certificado, adnChave: chave };
}

/** The municipality that has these settings. The table's constraint requires keys for every address. */
export function withSettings(tenant: string, values: SettingValues): Municipio {
  const { ancoras, revogados, adnUrl, adnCa, adnCertificado, adnChave, adnPfx, adnSenhaArquivo, ...plain } = values;
  const chaves =
    adnPfx === undefined
      ? { certificado: adnCertificado!, chave: adnChave!, senhaArquivo: adnSenhaArquivo }
      : { pfx: adnPfx, senhaArquivo: adnSenhaArquivo! };
  const adn = adnUrl === undefined ? undefined : { url: adnUrl, ca: adnCa, chaves };
  return { ...(plain as Municipio), tenant, confianca: { ancoras, revogados }, adn };
}

/** Whether a setting concerns the ADN. */
export function isOfAdn(name: SettingName): boolean {
  return (OF_ADN as readonly SettingName[]).includes(name);
}

/** Whether a setting is a free choice, and no part of the municipality's identity, trust or transmission. */
export function isChoice(name: SettingName): boolean {
  return !['ambiente', 'codigoIbge', 'aliquotaPadrao', ...GROUPED].includes(name);
}

/** A setting with its title, in its display form. */
export function showSetting(
  [name, { title, show }]: (typeof SETTINGS)[number],
  municipio: Municipio,
): readonly [string, string] {
  const { ambiente, adn } = municipio;
  return [title, show(settingsOf(municipio)[name], { ambiente, hasAdn: adn !== undefined })];
}

/** Whether a setting without argument is on. */
export function isOn(name: SettingName, municipio: Municipio): boolean {
  return settingsOf(municipio)[name] === true;
}

/** The value of a setting in the operator's notation; empty if it is not set. */
export function writeSetting([name, { choices, write }]: (typeof SETTINGS)[number], municipio: Municipio): string {
  const value: unknown = settingsOf(municipio)[name];
  if (choices !== undefined) return Object.entries(choices).find(([, one]) => one === (value ?? false))?.[0] ?? '';
  if (value === undefined) return '';
  return String(write === undefined ? value : write(value));
}
