/** A note for the holder of its key alone, as the taker who got a link: its validity, its parties, its amounts. */

import type { NotaRow } from '../../base/book/nota-columns.ts';
import { tellMoment } from '../../base/world/gather-facts.ts';
import type { World } from '../../base/world/world.ts';
import { municipioOf } from '../../fiscal/catalogs/catalogs.ts';
import { maskDocumento, whyNoChave } from '../../fiscal/chave.ts';
import { groupDecimal } from '../../fiscal/group-digits.ts';
import { brazilianDate } from '../../fiscal/moment.ts';
import type { NotaEstado } from '../../fiscal/nota.ts';
import { tipoNamed } from '../eventos/queries.ts';
import { consultaPublica } from './danfse.ts';
import { type CausaDaEspera, explainEspera, type Municipio, motivoSemIssqn } from './queries.ts';

export type NotaPublica = {
  readonly chave: string;
  /** Name of the municipality that issued it. */
  readonly municipio: string;
  /** `bom`: the note is valid. */
  readonly tom: 'bom' | 'aviso' | 'erro';
  /** The present state, in a word and in a sentence. */
  readonly situacao: string;
  readonly diz: string;
  /** Key of the note that replaced it. */
  readonly substituidaPor: string | undefined;
  readonly fatos: readonly (readonly [nome: string, valor: string])[];
  readonly temDanfse: boolean;
  /** Address of the national consult; undefined: the national environment does not have the note. */
  readonly nacional: string | undefined;
};

const SUBSTITUICAO = tipoNamed('cancelamento_por_substituicao')!.codigo;

type Dito = Pick<NotaPublica, 'tom' | 'situacao' | 'diz'>;

const ESTADOS: Readonly<Record<NotaEstado, Dito>> = {
  emitida: {
    tom: 'aviso',
    situacao: 'Em processamento',
    diz: 'Foi emitida, e o ambiente nacional ainda não a autorizou. Veja de novo mais tarde.',
  },
  transmitida: {
    tom: 'aviso',
    situacao: 'Em processamento',
    diz: 'Foi enviada ao ambiente nacional, que ainda não a autorizou. Veja de novo mais tarde.',
  },
  retida: {
    tom: 'aviso',
    situacao: 'Em processamento',
    diz: 'Espera por uma alíquota que ainda não foi publicada. Veja de novo mais tarde.',
  },
  autorizada: { tom: 'bom', situacao: 'Válida', diz: 'Está autorizada.' },
  cancelada: { tom: 'erro', situacao: 'Cancelada', diz: 'Foi cancelada, e não tem mais efeito.' },
  recusada: { tom: 'erro', situacao: 'Sem efeito', diz: 'Não foi autorizada, e nunca teve efeito.' },
};

/** Undefined: there is no such note here; the reason is not told. */
export async function findNotaPublica(
  { store }: Pick<World, 'store'>,
  municipio: Municipio,
  chave: string,
): Promise<NotaPublica | undefined> {
  const { tenant, ambiente, codigoIbge } = municipio;
  if (whyNoChave(chave) !== undefined) return undefined;
  const row = await store.notas.findByChave(tenant, chave);
  if (row === undefined) return undefined;
  const events = row.estado === 'cancelada' ? await store.eventos.listOf(tenant, chave, { codigo: SUBSTITUICAO }) : [];
  const replaced = events?.find(({ estado }) => estado === 'processado');
  const substituidaPor = replaced?.campos['chave_acesso_substituta'];
  const causa = await explainEspera({ store }, municipio, row);
  const said: Dito =
    replaced === undefined
      ? withCausa(ESTADOS[row.estado], causa)
      : { tom: 'erro', situacao: 'Substituída', diz: 'Outra nota tomou o lugar desta.' };
  const isAuthorised = row.estado === 'autorizada' || row.estado === 'cancelada';
  return {
    chave,
    municipio: nameOf(tenant, codigoIbge),
    ...said,
    substituidaPor,
    fatos: factsOf(row, isAuthorised),
    temDanfse: isAuthorised,
    nacional: isAuthorised && ambiente === 'producao' ? consultaPublica(chave) : undefined,
  };
}

function withCausa(dito: Dito, causa: CausaDaEspera | undefined): Dito {
  return causa === undefined ? dito : { ...dito, diz: `${dito.diz} ${causa.geral}` };
}

function nameOf(tenant: string, codigoIbge: string | undefined): string {
  const found = codigoIbge === undefined ? undefined : municipioOf(codigoIbge);
  return found === undefined ? tenant : `${found.nome}/${found.uf}`;
}

function factsOf(row: NotaRow, isAuthorised: boolean): NotaPublica['fatos'] {
  const party = (documento: string | null, nome: string | null): string =>
    [nome, documento && maskDocumento(documento)].filter(Boolean).join(', ') || 'não informado';
  const amount = (value: string | null): string | undefined =>
    value === null ? undefined : `R$ ${groupDecimal(value)}`;
  const facts: [string, string | undefined][] = [
    ['Número', isAuthorised ? row.numero_dps : undefined],
    ['Emitida em', tellMoment(row.chave_acesso, row.data_emissao)],
    ['Competência', brazilianDate(row.data_competencia)],
    ['Prestador', party(row.prestador_cpf_cnpj, row.prestador_razao_social)],
    ['Tomador', party(row.tomador_cpf_cnpj, row.tomador_razao_social)],
    ['Valor do serviço', amount(row.valor_servico)],
    ['Base de cálculo do ISSQN', amount(row.valor_base_calculo)],
    ['Alíquota do ISSQN', row.aliquota_issqn === null ? undefined : `${groupDecimal(row.aliquota_issqn)} %`],
    ['ISSQN', motivoSemIssqn(row) ?? amount(row.valor_issqn)],
  ];
  return facts.flatMap(([nome, valor]): [string, string][] => (valor === undefined ? [] : [[nome, valor]]));
}
