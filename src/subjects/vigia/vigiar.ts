/**
 * The looks of the monitoring, beyond the counts of the parts: the database, its backlog, the disk, the files of the municipalities. All
 * callers within seconds share one look, and none waits longer than a moment. A value that is not known in time is left out, and its
 * absence is reported. An unreachable database is reported at once.
 */
import { statfs } from 'node:fs/promises';
import { mesOf } from '../../base/book/meses.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import { isMoment, type Labels, type Leitura, type Sample } from '../../base/measures/metrics.ts';
import { storeTroubleOf, tellTrouble } from '../../base/world/store-trouble.ts';
import { LINHAS_ESPERADAS, semAliquota } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { BRASILIA, momentIn, SECOND_MS } from '../../fiscal/moment.ts';
import { lookAtFiles } from './arquivos.ts';
import { joinSamples, nameMunicipios, transmits, type VigiaWorld } from './rotulos.ts';
import type { AuditoriaDeUm, EsperaDeUm } from './vigia.rows.ts';

export type { VigiaWorld } from './rotulos.ts';

/** An older reading is repeated. */
const FRESH_MS = 10_000;
/** Files and sizes change seldom, and there may be thousands. */
const SLOW_MS = 30_000;
/** Values older than this are dropped; moments are kept for ever, because their age grows by itself. */
const KEPT_MS = 120_000;
/** Longest wait of a caller for a look. */
const WAIT_MS = 800;

/** Looks on request; the promise never rejects, and resolves within a second. */
export function openVigia(world: VigiaWorld): () => Promise<readonly Sample[]> {
  const { dados } = world;
  const looks = [
    () => askDatabase(world),
    remember(world, 'banco', FRESH_MS, () => lookAtDatabase(world)),
    remember(world, 'tamanho', SLOW_MS, () => lookAtSizes(world)),
    remember(world, 'arquivos', SLOW_MS, () => lookAtFiles(world)),
    // The disk of a database on another machine cannot be read.
    ...(dados === undefined ? [] : [remember(world, 'disco', FRESH_MS, () => lookAtDisk(dados))]),
  ];
  return async () => (await Promise.all(looks.map((look) => look()))).flat();
}

/** The looks of a process beside the service: its own values alone. The service reports the database, once for all processes. */
export function openVigiaBeside(world: VigiaWorld): () => Promise<readonly Sample[]> {
  const files = remember(world, 'arquivos', SLOW_MS, () => lookAtFiles(world));
  return async () => (await Promise.all([askDatabase(world), files()])).flat();
}

/** Shares one run of a look among all callers, and keeps its result. A caller gets the kept result, or waits a moment for a new one. */
function remember(
  { log }: Pick<VigiaWorld, 'log'>,
  leitura: Leitura,
  freshMs: number,
  look: () => Promise<readonly Sample[]>,
): () => Promise<readonly Sample[]> {
  let known: readonly Sample[] = [];
  let at = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  const begin = async (): Promise<void> => {
    try {
      known = await look();
      at = performance.now();
    } catch (error) {
      // A gauge of its own reports an unreachable database.
      if (storeTroubleOf(error) === undefined) tellTrouble(log, error, {}, 'a vigia não pôde ler o que mede');
    } finally {
      looking = undefined;
    }
  };
  return async () => {
    if (performance.now() - at >= freshMs) {
      looking ??= begin();
      await Promise.race([looking, sleep(WAIT_MS)]);
    }
    const isKnown = performance.now() - at < KEPT_MS;
    return [
      ...(isKnown ? known : known.filter(({ name }) => isMoment(name))),
      { name: 'nfse_leitura_em_dia', labels: { leitura }, value: isKnown ? 1 : 0 },
    ];
  };
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}

async function askDatabase({ store }: VigiaWorld): Promise<readonly Sample[]> {
  const answers = store.ping().then(
    () => 1,
    () => 0,
  );
  const value = await Promise.race([answers, sleep(WAIT_MS).then(() => 0)]);
  return [{ name: 'nfse_banco_disponivel', labels: {}, value }];
}

async function lookAtDatabase(world: VigiaWorld): Promise<readonly Sample[]> {
  const { store, now } = world;
  const municipios = await store.municipios.list();
  const esperas = await store.vigia.lookAtEsperas();
  const auditoria = await store.vigia.lookAtAuditoria();
  const aliquotas = await lookAtRates(world);
  const meses = await store.vigia.countMesesAfter(mesOf(now()));
  const names = nameMunicipios(municipios);
  return [
    ...countMunicipios(municipios),
    { name: 'nfse_meses_adiante', labels: {}, value: meses },
    ...joinSamples(
      'nfse_municipio_fechado',
      municipios.map(({ tenant, fechado }) => [{ municipio: names.get(tenant)! }, fechado ? 1 : 0] as const),
      Math.max,
    ),
    { name: 'nfse_municipios_nao_lidos', labels: {}, value: countUnread(municipios, esperas) },
    ...gatherEsperas({ municipios, names }, esperas, now()),
    ...gatherAuditoria({ municipios, names }, auditoria, now()),
    ...aliquotas,
    { name: 'nfse_banco_lido_timestamp_seconds', labels: {}, value: now() / SECOND_MS },
  ];
}

function countMunicipios(municipios: readonly Municipio[]): readonly Sample[] {
  return Object.keys(AMBIENTES).map((ambiente) => ({
    name: 'nfse_municipios',
    labels: { ambiente },
    value: municipios.filter((one) => one.ambiente === ambiente).length,
  }));
}

/** A silent node of a distributed schema removes its municipalities from the reading. */
function countUnread(municipios: readonly Municipio[], esperas: readonly EsperaDeUm[]): number {
  const found = new Set(esperas.map(({ tenant }) => tenant));
  return municipios.filter(({ tenant }) => !found.has(tenant)).length;
}

async function lookAtRates({ store, now }: VigiaWorld): Promise<readonly Sample[]> {
  const hoje = momentIn(BRASILIA, now()).date;
  const missing = new Set<string>(semAliquota(await store.aliquotas.readTabela(), hoje).map(({ tributo }) => tributo));
  return LINHAS_ESPERADAS.map((tributo) => ({
    name: 'nfse_aliquotas_em_falta',
    labels: { tributo },
    value: missing.has(tributo) ? 1 : 0,
  }));
}

/** The municipalities, and the name of each in labels. */
type Named = { readonly municipios: readonly Municipio[]; readonly names: ReadonlyMap<string, string> };

const add = (one: number, other: number): number => one + other;

function gatherEsperas({ municipios, names }: Named, esperas: readonly EsperaDeUm[], now: number): readonly Sample[] {
  const producao = new Set(municipios.filter(transmits).map(({ tenant }) => tenant));
  const known = esperas.filter(({ tenant }) => names.has(tenant));
  const transmitting = known.filter(({ tenant }) => producao.has(tenant));
  const labelsOf = ({ tenant }: EsperaDeUm): { municipio: string } => ({ municipio: names.get(tenant)! });
  const measureAge = (desde: number | undefined): number =>
    desde === undefined ? 0 : Math.max(0, (now - desde) / SECOND_MS);
  const agesOf = (documento: string, since: (one: EsperaDeUm) => number | undefined) =>
    transmitting.map((one): readonly [Labels, number] => [{ ...labelsOf(one), documento }, measureAge(since(one))]);
  const countsOf = (documento: string, how: (one: EsperaDeUm) => number) =>
    known.map((one): readonly [Labels, number] => [{ ...labelsOf(one), documento }, how(one)]);
  const flagsOf = (how: (one: EsperaDeUm) => boolean) =>
    transmitting.map((one): readonly [Labels, number] => [labelsOf(one), how(one) ? 1 : 0]);
  const counts = [
    ...countsOf('nota', ({ notas }) => notas),
    ...countsOf('evento', ({ eventos }) => eventos),
    ...countsOf('lote', ({ lotes }) => lotes),
  ];
  const taken = [
    ...countsOf('nota', ({ notasTomadas }) => notasTomadas),
    ...countsOf('evento', ({ eventosTomados }) => eventosTomados),
    ...countsOf('lote', ({ lotesTomados }) => lotesTomados),
  ];
  const ages = [
    ...agesOf('nota', ({ notaDesde }) => notaDesde),
    ...agesOf('evento', ({ eventoDesde }) => eventoDesde),
    ...agesOf('lote', ({ loteDesde }) => loteDesde),
  ];
  const lateOf = (trabalho: string, since: (one: EsperaDeUm) => number | undefined) =>
    known.map((one): readonly [Labels, number] => [{ ...labelsOf(one), trabalho }, measureAge(since(one))]);
  const entregas = known.flatMap((one): readonly (readonly [Labels, number])[] => [
    [{ ...labelsOf(one), estado: 'pendente' }, one.avisos],
    [{ ...labelsOf(one), estado: 'morta' }, one.avisosMortos],
  ]);
  const late = [
    ...lateOf('avisos', ({ avisoDesde }) => avisoDesde),
    ...lateOf('exportacoes', ({ exportacaoDesde }) => exportacaoDesde),
  ];
  const pendencias = transmitting.flatMap((one): readonly (readonly [Labels, number])[] => [
    [{ ...labelsOf(one), tipo: 'analise_fiscal' }, one.analises],
    [{ ...labelsOf(one), tipo: 'rejeicao' }, one.rejeicoes],
    [{ ...labelsOf(one), tipo: 'nota_recusada' }, one.recusadas],
  ]);
  const mudancas = known.map((one): readonly [Labels, number] => [labelsOf(one), one.mudancasNovas]);
  const retidas = known.map((one): readonly [Labels, number] => [labelsOf(one), one.retidas]);
  return [
    ...joinSamples('nfse_em_espera', counts, add),
    ...joinSamples('nfse_em_transmissao', taken, add),
    ...joinSamples('nfse_espera_mais_antiga_seconds', ages, Math.max),
    ...joinSamples('nfse_notas_retidas', retidas, add),
    ...joinSamples('nfse_entregas', entregas, add),
    ...joinSamples('nfse_pendencias', pendencias, add),
    ...joinSamples('nfse_trabalho_espera_seconds', late, Math.max),
    ...joinSamples('nfse_mudancas_sem_lugar', mudancas, add),
    ...joinSamples(
      'nfse_adn_circuito_aberto',
      flagsOf(({ circuitoAberto }) => circuitoAberto),
      Math.max,
    ),
    ...joinSamples(
      'nfse_municipio_impedido',
      flagsOf(({ impedido, circuitoAberto }) => impedido && !circuitoAberto),
      Math.max,
    ),
  ];
}

function gatherAuditoria(
  { municipios, names }: Named,
  auditoria: readonly AuditoriaDeUm[],
  now: number,
): readonly Sample[] {
  const known = auditoria.filter(({ tenant }) => names.has(tenant));
  const of = (how: (one: AuditoriaDeUm) => number | undefined) =>
    known.flatMap((one): readonly (readonly [Labels, number])[] => {
      const value = how(one);
      return value === undefined ? [] : [[{ municipio: names.get(one.tenant)! }, value]];
    });
  const waits = ({ semLugarDesde }: AuditoriaDeUm): number =>
    semLugarDesde === undefined ? 0 : Math.max(0, (now - semLugarDesde) / SECOND_MS);
  const signs = new Set(municipios.filter(({ adn }) => adn !== undefined).map(({ tenant }) => tenant));
  // A chain without a seal counts from its beginning.
  const selada = ({ tenant, seladaEm, abertaEm }: AuditoriaDeUm): number | undefined => {
    const since = seladaEm ?? (signs.has(tenant) ? abertaEm : undefined);
    return since && since / SECOND_MS;
  };
  return [
    ...joinSamples(
      'nfse_auditoria_achados',
      of(({ achados }) => achados),
      add,
    ),
    ...joinSamples('nfse_auditoria_espera_seconds', of(waits), Math.max),
    ...joinSamples('nfse_auditoria_selo_timestamp_seconds', of(selada), Math.min),
  ];
}

async function lookAtSizes({ store }: VigiaWorld): Promise<readonly Sample[]> {
  return [{ name: 'nfse_banco_tamanho_bytes', labels: {}, value: await store.banco.readBytes() }];
}

async function lookAtDisk(dados: string): Promise<readonly Sample[]> {
  const { bavail, blocks, bsize } = await statfs(dados);
  return [
    { name: 'nfse_disco_livre_bytes', labels: {}, value: bavail * bsize },
    { name: 'nfse_disco_total_bytes', labels: {}, value: blocks * bsize },
  ];
}
