/** The filters of the search of notes, one row each. The API, the command, the console and the exports make theirs of these rows. */

import { documentoKind } from '../../fiscal/chave.ts';
import { REGIMES, SEM_CLASSE, SITUACOES_ISSQN, type SituacaoIssqn } from '../../fiscal/classe-issqn.ts';
import { formatDecimal, readDecimal } from '../../fiscal/decimal.ts';
import { addDays, daysIn, isDay, isoMes, startOfDay } from '../../fiscal/moment.ts';
import { NOTA_ESTADOS, type NotaEstado } from '../../fiscal/nota.ts';
import { TIPOS_EVENTO, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { type Filtros, NENHUMA, ORDENS } from './buscar.rows.ts';

export { ORDENS } from './buscar.rows.ts';

/** A kind of value: its reading, and the problem of a text that cannot be read. */
type Kind<Value> = {
  readonly read: (text: string, zone: string) => Value | undefined;
  readonly why: string;
};

/** A filter with its words for each door. */
type Filtro<Value> = Kind<Value> & {
  readonly api: string;
  readonly command: { readonly takes: string; readonly help: string };
  readonly console: {
    readonly label: string;
    readonly type?: 'date';
    readonly choices?: readonly (readonly [value: string, label: string])[];
  };
};

export type NomeDeFiltro = keyof Filtros;

const DOCUMENTO: Kind<string> = { read: readDocumento, why: 'Não é um CNPJ (14 posições) nem um CPF (11).' };
const VALOR: Kind<string> = { read: readValor, why: 'Escreva o valor com até duas casas, como 1.234,56.' };
const NO_DAY = 'Escreva o dia como AAAA-MM-DD, por exemplo 2026-11-30.';
const ESTADOS = Object.keys(NOTA_ESTADOS);
const SITUACOES = Object.keys(SITUACOES_ISSQN);
const REGIMES_OF_NOTAS = { ...REGIMES, [SEM_CLASSE]: SITUACOES_ISSQN[SEM_CLASSE] };

function describeParty(nome: string): Filtro<string> {
  const text = `CNPJ ou CPF do ${nome}`;
  return { ...DOCUMENTO, api: `${text}.`, command: { takes: 'DOCUMENTO', help: text }, console: { label: text } };
}

/** Filters in the order in which each door shows them. Days are in the time of the municipality, both inclusive. */
export const FILTROS: { readonly [Name in NomeDeFiltro]-?: Filtro<NonNullable<Filtros[Name]>> } = {
  prestador: describeParty('prestador'),
  tomador: describeParty('tomador'),
  intermediario: describeParty('intermediário'),
  de: {
    read: (text, zone) => (isDay(text) ? startOfDay(zone, text) : undefined),
    why: NO_DAY,
    api: 'Primeiro dia da emissão, AAAA-MM-DD.',
    command: { takes: 'AAAA-MM-DD', help: 'emitida deste dia em diante' },
    console: { label: 'Emitida de', type: 'date' },
  },
  ate: {
    read: (text, zone) => (isDay(text) ? startOfDay(zone, addDays(text, 1)) : undefined),
    why: NO_DAY,
    api: 'Último dia da emissão, AAAA-MM-DD.',
    command: { takes: 'AAAA-MM-DD', help: 'emitida até este dia' },
    console: { label: 'até', type: 'date' },
  },
  competencia: {
    read: readCompetencia,
    why: 'Escreva a competência como MM/AAAA, por exemplo 11/2026, ou como AAAA-MM, ou a primeira e a última, como 2026-10/2026-12.',
    api: 'Mês da competência, AAAA-MM; ou o primeiro e o último, AAAA-MM/AAAA-MM.',
    command: { takes: 'AAAA-MM', help: 'mês da competência' },
    console: { label: 'Competência (MM/AAAA)' },
  },
  estado: {
    read: (text) => (Object.hasOwn(NOTA_ESTADOS, text) ? (text as NotaEstado) : undefined),
    why: `Escolha um de: ${ESTADOS.join(', ')}.`,
    api: `Estado da nota: ${ESTADOS.join(', ')}.`,
    command: { takes: 'ESTADO', help: 'emitida, autorizada, cancelada, …: como a nota o mostra' },
    console: {
      label: 'Estado',
      choices: [['', 'qualquer'], ...ESTADOS.map((estado) => [estado, estado] as const)],
    },
  },
  valor_de: {
    ...VALOR,
    api: 'Valor mínimo do serviço.',
    command: { takes: 'VALOR', help: 'valor do serviço a partir deste, como 1.234,56' },
    console: { label: 'Valor de (R$)' },
  },
  valor_ate: {
    ...VALOR,
    api: 'Valor máximo do serviço.',
    command: { takes: 'VALOR', help: 'valor do serviço até este' },
    console: { label: 'Valor até (R$)' },
  },
  servico: {
    read: readServico,
    why: 'Escolha um serviço, ou escreva os seis dígitos do código nacional, como 010101 ou 01.01.01.',
    api: 'Código de tributação nacional, seis dígitos.',
    command: { takes: 'CÓDIGO', help: 'código nacional do serviço, como 01.01.01' },
    console: { label: 'Serviço' },
  },
  issqn: {
    read: (text) => (Object.hasOwn(SITUACOES_ISSQN, text) ? (text as SituacaoIssqn) : undefined),
    why: `Escolha um de: ${SITUACOES.join(', ')}.`,
    api: `O que é do ISSQN da nota: ${SITUACOES.join(', ')}.`,
    command: { takes: 'SITUAÇÃO', help: `o que é do ISSQN: ${SITUACOES.join(', ')}` },
    console: { label: 'ISSQN', choices: [['', 'qualquer'], ...Object.entries(SITUACOES_ISSQN)] },
  },
  regime: {
    read: (text) => (Object.hasOwn(REGIMES_OF_NOTAS, text) ? text : undefined),
    why: `Escolha um de: ${Object.keys(REGIMES_OF_NOTAS).join(', ')}.`,
    api: `Regime do prestador: ${Object.keys(REGIMES_OF_NOTAS).join(', ')}.`,
    command: { takes: 'REGIME', help: 'regime do prestador, como normal, mei ou simples_1' },
    console: { label: 'Regime', choices: [['', 'qualquer'], ...Object.entries(REGIMES_OF_NOTAS)] },
  },
  aliquota: {
    read: (text) => (text === NENHUMA ? NENHUMA : readValor(text)),
    why: 'Escreva a alíquota com até duas casas, como 2,00, ou nenhuma.',
    api: 'Alíquota do ISSQN em porcentagem, como 2.00; ou nenhuma.',
    command: { takes: 'ALÍQUOTA', help: 'alíquota do ISSQN, como 2,00; ou nenhuma' },
    console: { label: 'Alíquota (%)' },
  },
  evento: {
    read: (text) => tipoBySlug(text)?.codigo,
    why: `Escolha um de: ${TIPOS_EVENTO.map(({ slug }) => slug).join(', ')}.`,
    api: `Tipo de um evento processado da nota: ${TIPOS_EVENTO.map(({ slug }) => slug).join(', ')}.`,
    command: { takes: 'TIPO', help: 'com um evento processado deste tipo, como cancelamento ou rejeicao_tomador' },
    console: {
      label: 'Evento da nota',
      choices: [['', 'qualquer'], ...TIPOS_EVENTO.map(({ slug, descricao }) => [slug, descricao] as const)],
    },
  },
  serie: {
    read: (text) => (/^\d{1,5}$/.test(text) ? text : undefined),
    why: 'A série tem até cinco dígitos.',
    api: 'Série da DPS.',
    command: { takes: 'SÉRIE', help: 'série da DPS' },
    console: { label: 'Série da DPS' },
  },
  numero: {
    read: (text) => (/^\d{1,13}$/.test(text) ? String(BigInt(text)) : undefined),
    why: 'O número da nota tem até 13 dígitos.',
    api: 'Número da NFS-e.',
    command: { takes: 'NÚMERO', help: 'número da nota' },
    console: { label: 'Número da nota' },
  },
  ordem: {
    read: readOrdem,
    why: `Escolha uma de: ${ORDENS.join(', ')}.`,
    api: 'novas, da mais nova para a mais antiga, como sem ele; ou antigas.',
    command: { takes: 'antigas', help: 'as mais antigas primeiro (padrão: as mais novas)' },
    console: {
      label: 'Ordem',
      choices: [
        ['', 'mais novas primeiro'],
        ['antigas', 'mais antigas primeiro'],
      ],
    },
  },
};

export const NOMES_DE_FILTROS = Object.keys(FILTROS) as readonly NomeDeFiltro[];

type Read = { readonly filtros: Filtros; readonly problems: Readonly<Partial<Record<NomeDeFiltro, string>>> };

/** The filters as they were written, read, and the problems of those that cannot be. An empty text sets no filter. */
export function readFiltros(textOf: (name: NomeDeFiltro) => string, zone: string): Read {
  const given = NOMES_DE_FILTROS.map((name) => [name, textOf(name)] as const).filter(([, text]) => text !== '');
  const read = given.map(([name, text]) => [name, FILTROS[name].read(text, zone)] as const);
  const filtros: Filtros = Object.fromEntries(read);
  const unread = read.filter(([, value]) => value === undefined).map(([name]) => [name, FILTROS[name].why]);
  const { de, ate, valor_de, valor_ate } = filtros;
  const isBack = de !== undefined && ate !== undefined && ate <= de;
  const isLess = valor_de !== undefined && valor_ate !== undefined && Number(valor_ate) < Number(valor_de);
  const problems = {
    ...Object.fromEntries(unread),
    ...(isBack ? { ate: 'O fim do período é antes do começo.' } : {}),
    ...(isLess ? { valor_ate: 'O valor máximo é menor que o mínimo.' } : {}),
  };
  return { filtros, problems };
}

export function readDocumento(text: string): string | undefined {
  const bare = text.replace(/[\s./-]/g, '').toUpperCase();
  return documentoKind(bare) === undefined ? undefined : bare;
}

/** Both notations are accepted: the Brazilian `1.234,56` and the plain `1234.56`. */
export function readValor(text: string): string | undefined {
  const plain = text.includes(',') ? text.replaceAll('.', '').replace(',', '.') : text;
  const value = readDecimal(plain.replace(/^R\$\s*/, ''));
  return value === undefined || value < 0n ? undefined : formatDecimal(value);
}

function readCompetencia(text: string): Filtros['competencia'] {
  const [, first, last = first] = /^(\d{4}-\d{2})(?:\/(\d{4}-\d{2}))?$/.exec(isoMes(text)) ?? [];
  const de = `${first}-01`;
  if (!isDay(de) || !isDay(`${last}-01`) || last! < first!) return undefined;
  return { de, ate: `${last}-${daysIn(Number(last!.slice(0, 4)), Number(last!.slice(5)))}` };
}

/** The name of a service may follow its code. */
function readServico(text: string): string | undefined {
  const [, ...digits] = /^\s*(\d\d)\.?(\d\d)\.?(\d\d)(?!\d)/.exec(text) ?? [];
  return digits.length === 0 ? undefined : digits.join('');
}

/** An order of a list, `novas` first or `antigas`. */
export function readOrdem(text: string): Filtros['ordem'] {
  return ORDENS.find((ordem) => ordem === text);
}
