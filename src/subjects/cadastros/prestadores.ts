/** Providers of a municipality: search, display, blocking and removal. `editar.ts` changes their data. */

import { needOpen } from '../../base/world/fechado.ts';
import { municipioNamed, type RegistryWorld } from '../../base/world/municipios.ts';
import { needMotivo, type PorMao, type Problem } from '../../base/world/operator.ts';
import { bareDocumento, whyNoDocumento } from '../../fiscal/chave.ts';
import { bareIm, type Prestador } from '../../fiscal/facts.ts';
import { listFileColumns } from '../../fiscal/registers.ts';
import { wordsOf } from '../../fiscal/words.ts';
import { foreseeNotas } from './consequencias.ts';
import type { PrestadorListado } from './procurar-prestadores.rows.ts';

export type { PrestadorListado } from './procurar-prestadores.rows.ts';

export type BuscaDePrestador = {
  /** CNPJ, CPF, municipal registration, or words of the name. */
  readonly texto?: string | undefined;
  readonly autorizado?: boolean | undefined;
};

/** Questions that must be answered before a change is made. */
export type Perguntas = { readonly perguntas: readonly string[] };

const PAGE = 50;
/** Providers read at a time for an export. */
const BLOCK = 5_000;

/** A page of the register, by document; `depois`: `seguinte` of the page before. */
export async function listPrestadores(
  world: RegistryWorld,
  slug: string,
  { texto = '', autorizado }: BuscaDePrestador,
  depois?: string,
): Promise<{ readonly prestadores: readonly PrestadorListado[]; readonly seguinte: string | undefined }> {
  const { tenant } = await municipioNamed(world, slug);
  const found = await world.store.prestadores.search(
    tenant,
    { ...readTexto(texto), autorizado },
    readPlace(depois),
    PAGE + 1,
  );
  const last = found[PAGE - 1];
  return {
    prestadores: found.slice(0, PAGE),
    seguinte: found.length > PAGE ? placeOf(last!) : undefined,
  };
}

function readTexto(texto: string) {
  const bare = bareDocumento(texto);
  if (whyNoDocumento(bare) === undefined) return { documento: bare };
  if (/^\d+$/.test(bare)) return { inscricao: bareIm(bare), inicio: bare };
  return { palavras: wordsOf(texto) };
}

const placeOf = ({ documento, inscricao_municipal }: PrestadorListado): string =>
  `${documento} ${bareIm(inscricao_municipal)}`;

function readPlace(text: string | undefined): readonly [string, string] | undefined {
  const [documento, inscricao = ''] = (text ?? '').split(' ');
  return documento === undefined || documento === '' ? undefined : [documento, inscricao];
}

/** The registered establishments of a document, with or without punctuation. Throws if the municipality does not exist. */
export async function showPrestador(
  world: RegistryWorld,
  slug: string,
  documento: string,
): Promise<readonly Prestador[]> {
  const { tenant } = await municipioNamed(world, slug);
  return world.store.prestadores.listOf(tenant, bareDocumento(documento));
}

/** `inscricao` undefined: all establishments of the document. */
export type Alvo = { readonly documento: string; readonly inscricao?: string | undefined };

/** Acts on a provider, besides changes of its data. */
const ACOES = {
  bloquear: { acao: 'bloqueado', autorizado: false },
  desbloquear: { acao: 'desbloqueado', autorizado: true },
  retirar: { acao: 'retirado', autorizado: undefined },
} as const;

export type AcaoDePrestador = keyof typeof ACOES;

/**
 * Blocks a provider, unblocks it, or deletes it from the register. DPS of a blocked provider are answered E102, within seconds in every
 * process; those of a deleted one E101. Issued notes stay. Returns the number of establishments. `confirmado`: the questions about the notes
 * of a deleted one are answered.
 */
export async function operatePrestador(
  world: RegistryWorld,
  slug: string,
  { documento: given, inscricao }: Alvo,
  { acao, confirmado }: { readonly acao: AcaoDePrestador; readonly confirmado: boolean },
  by: PorMao,
): Promise<{ readonly estabelecimentos: number } | Problem | Perguntas> {
  const municipio = await municipioNamed(world, slug);
  needOpen(municipio);
  const documento = bareDocumento(given);
  const problem = whyNoDocumento(documento);
  if (problem !== undefined) return { problem: `O documento indicado ${problem}.` };
  const read = acao === 'desbloquear' ? by : needMotivo(by);
  if ('problem' in read) return read;
  const { autorizado, acao: done } = ACOES[acao];
  const ato = {
    ...by,
    motivo: read.motivo,
    em: world.now(),
    objeto: 'prestador',
    chave: documento,
    acao: done,
  } as const;
  const alvo = { documento, inscricao: inscricao === undefined ? undefined : bareIm(inscricao) };
  const { store } = world;
  if (autorizado === undefined && !confirmado) {
    const mudado = { com: 'Sem este cadastro', prestador: documento };
    const perguntas = await store.prestadores.probeWithout(municipio.tenant, alvo, (client) =>
      foreseeNotas(world, municipio, client, mudado),
    );
    if (perguntas.length > 0) return { perguntas };
  }
  const count =
    autorizado === undefined
      ? await store.prestadores.remove(municipio.tenant, alvo, ato)
      : await store.prestadores.authorize(municipio.tenant, alvo, autorizado, ato);
  if (count > 0) return { estabelecimentos: count };
  const which = inscricao === undefined ? '' : ` com a inscrição ${inscricao}`;
  return {
    problem: `Não há o que ${acao}: o documento${which} não está no cadastro de ${slug}, ou já está assim. nfse prestador mostrar diz o que há.`,
  };
}

/** The register as lines of its file: one line for each establishment and each period of the Simples. */
export async function* prestadoresAsRows(world: RegistryWorld, slug: string): AsyncGenerator<readonly string[]> {
  const { tenant } = await municipioNamed(world, slug);
  const columns = listFileColumns('prestadores');
  for (let place: readonly [string, string] | undefined; ; ) {
    const found = await world.store.prestadores.search(tenant, {}, place, BLOCK);
    for (const prestador of found) {
      const periods = prestador.simples.length === 0 ? [['', ''] as const] : prestador.simples;
      for (const [simples_inicio, simples_fim] of periods) {
        const cells: Readonly<Record<string, string | null>> = {
          ...prestador,
          simples: null,
          autorizado: prestador.autorizado ? 'sim' : 'nao',
          simples_inicio,
          simples_fim,
        };
        yield columns.map((column) => cells[column] ?? '');
      }
    }
    const last = found.at(-1);
    if (last === undefined || found.length < BLOCK) return;
    place = readPlace(placeOf(last));
  }
}
