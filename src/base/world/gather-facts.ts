/**
 * Reads the facts for the judgement: the provider, the municipality, today. Refuses with E101, E102 and E103. Nothing is written here; the
 * provider that the sandbox creates is stored with its first note.
 *
 * Data of the registry and of other notes belongs to a party. It is not read for a document that its provider did not sign (D-25).
 */
import { aliquotaAmong } from '../../fiscal/aliquota.ts';
import { AMBIENTES } from '../../fiscal/ambiente.ts';
import { type NomeadoPelaDps, SEM_CADASTROS } from '../../fiscal/cadastros.ts';
import { municipioOf, zoneOf } from '../../fiscal/catalogs/catalogs.ts';
import { cnpjIsValid, cpfIsValid, isKeyOfOther } from '../../fiscal/chave.ts';
import { type EventoComEstado, listStanding } from '../../fiscal/conflitos-evento.ts';
import {
  bareIm,
  ENDERECO_NAO_INFORMADO,
  type Facts,
  type NotaSubstituida,
  type Prestador,
} from '../../fiscal/facts.ts';
import type { Fault } from '../../fiscal/fault.ts';
import type { Dps } from '../../fiscal/layout/dps.ts';
import { brazilianMoment, isInForce, type Moment, momentIn } from '../../fiscal/moment.ts';
import { answerOf, isNotKnown, knownPart, watch } from '../../fiscal/unknown.ts';
import type { Municipio } from '../book/municipios.ts';
import type { EventoOnNota } from '../book/on-notas.ts';
import type { World } from './world.ts';

/** An instant in milliseconds in the time zone of a municipality. */
export function municipalMoment(codigoIbge: string | undefined, instant: number): Moment {
  return momentIn(zoneOf(codigoIbge), instant);
}

/** An instant in milliseconds in the time zone of the municipality that issued the note of a key. */
export function momentOfNota(chave: string, instant: number): Moment {
  return municipalMoment(chave.slice(0, 7), instant);
}

/** An instant in readable form, in the time zone of the municipality that issued the note of a key. */
export function tellMoment(chave: string, instant: Date): string {
  return brazilianMoment(momentOfNota(chave, instant.getTime()));
}

/** An event in the form in which the others on its note are judged by it. */
export function toEventoNaNota(evento: Omit<EventoOnNota, 'isDue'>): EventoComEstado & Pick<EventoOnNota, 'id'> {
  const { id, codigo_tipo_evento, numero_sequencial, estado, autor, campos } = evento;
  return { id, codigo: codigo_tipo_evento, numero_sequencial, estado, autor, campos };
}

export type Gathered = {
  readonly facts: Facts;
  readonly novoPrestador: Prestador | undefined;
  /** Faults of the provider in the registry (E101, E102, E103); the facts then contain a stand-in. */
  readonly faults: readonly Fault[];
};

/** The facts about one DPS of a tenant. `instant` in milliseconds. */
export async function gatherFacts(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  dps: Dps,
  instant: number,
): Promise<Gathered> {
  const [found, cadastros, substituida, open] = await Promise.all([
    findPrestador(world, municipio, dps),
    world.store.cadastros.find(municipio.tenant, nomeadoBy(dps)),
    dps.subst && replacedNota(world, municipio, dps, dps.subst.chSubstda),
    openFacts(world, municipio, askedOf(dps), instant),
  ]);
  const facts = { ...open, prestador: found.prestador, cadastros, substituida };
  return { facts, novoPrestador: found.novo ? found.prestador : undefined, faults: found.faults };
}

/** The facts that anybody may know; those of the provider come from the document itself. `instant` in milliseconds. */
export async function factsForStranger(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  dps: Dps,
  instant: number,
): Promise<Gathered> {
  const open = await openFacts(world, municipio, askedOf(dps), instant);
  const prestador = prestadorAsSaid(dps);
  const facts = { ...open, prestador, cadastros: SEM_CADASTROS, substituida: undefined };
  return { facts, novoPrestador: undefined, faults: [] };
}

/** Known facts, with the others marked as unknown, and the provider's faults in the registry. */
type GatheredKnown = Pick<Gathered, 'facts' | 'faults'>;

/** The answer to an asynchronous question; undefined if it reads an unknown value. */
export async function answerInTime<Answer>(
  question: () => Promise<Answer>,
): Promise<{ readonly answer: Answer } | undefined> {
  try {
    return { answer: await question() };
  } catch (error) {
    if (isNotKnown(error)) return undefined;
    throw error;
  }
}

/** The facts about a document with unknown parts, as far as they can be looked up (D-720). */
export async function gatherKnown(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  marked: Dps,
  instant: number,
): Promise<GatheredKnown> {
  const { value: dps } = watch(marked);
  const [found, cadastros, substituida, open] = await Promise.all([
    answerInTime(async () => findPrestador(world, municipio, dps)),
    answerInTime(async () => world.store.cadastros.find(municipio.tenant, nomeadoBy(dps))),
    answerInTime(async () => dps.subst && replacedNota(world, municipio, dps, dps.subst.chSubstda)),
    openKnown(world, municipio, dps, instant),
  ]);
  const facts: Partial<Facts> = {
    ...open,
    ...(found && { prestador: found.answer.prestador }),
    ...(cadastros && { cadastros: cadastros.answer }),
    ...(substituida && { substituida: substituida.answer }),
  };
  return { facts: knownPart<Facts>(facts), faults: found?.answer.faults ?? [] };
}

/** The facts about such a document that anybody may know. */
export async function knownForStranger(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  marked: Dps,
  instant: number,
): Promise<Pick<GatheredKnown, 'facts'>> {
  const { value: dps } = watch(marked);
  return { facts: knownPart<Facts>({ ...(await openKnown(world, municipio, dps, instant)), ...asSaidKnown(dps) }) };
}

/** The facts about a stranger's document that need no database. */
export function knownUnasked(municipio: Municipio, marked: Dps, instant: number): Facts {
  const { value: dps } = watch(marked);
  return knownPart<Facts>({ ...settledFacts(municipio), ...todayKnown(municipio, dps, instant), ...asSaidKnown(dps) });
}

function asSaidKnown(dps: Dps): Partial<Facts> {
  const prestador = answerOf(() => prestadorAsSaid(dps));
  return {
    cadastros: SEM_CADASTROS,
    substituida: undefined,
    ...(prestador && { prestador: prestador.answer }),
  };
}

async function openKnown(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  dps: Dps,
  instant: number,
): Promise<Partial<Facts>> {
  const { cTribNac = '', cTribMun } = {
    cTribNac: answerOf(() => dps.serv.cServ.cTribNac)?.answer,
    cTribMun: answerOf(() => dps.serv.cServ.cTribMun)?.answer,
  };
  const { hoje: _inWhichZone, ...open } = await openFacts(
    world,
    municipio,
    { cTribNac, cTribMun, cLocEmi: '' },
    instant,
  );
  return { ...open, ...todayKnown(municipio, dps, instant) };
}

function todayKnown({ codigoIbge }: Municipio, dps: Dps, instant: number): Partial<Facts> {
  const place = answerOf(() => codigoIbge ?? dps.cLocEmi);
  const hoje = place && { hoje: municipalMoment(place.answer, instant).date };
  return { agora: instant, ...hoje };
}

/** The parts of a DPS that select from the list of services, and the time zone. */
type Asked = { readonly cTribNac: string; readonly cTribMun: string | undefined; readonly cLocEmi: string };

function askedOf({ cLocEmi, serv }: Dps): Asked {
  const { cTribNac, cTribMun } = serv.cServ;
  return { cTribNac, cTribMun, cLocEmi };
}

/** The facts that are settings of the municipality. */
function settledFacts(municipio: Municipio): Pick<Facts, 'ambiente' | 'cMun' | 'regrasNacionais' | 'exigeNumero'> {
  return {
    ambiente: municipio.ambiente,
    cMun: municipio.codigoIbge,
    regrasNacionais: municipio.regrasNacionais ?? AMBIENTES[municipio.ambiente].regrasNacionais,
    exigeNumero: municipio.exigeNumero ?? false,
  };
}

/** The law, the settings and the list of services, which is a public catalog. */
async function openFacts(
  world: Pick<World, 'store'>,
  municipio: Municipio,
  { cTribNac: national, cTribMun: municipal, cLocEmi }: Asked,
  instant: number,
): Promise<Omit<Facts, 'prestador' | 'cadastros' | 'substituida'>> {
  const [{ hasList, lines }, tabelaIbsCbs] = await Promise.all([
    world.store.servicos.findByCodes(municipio.tenant, national, municipal),
    world.store.aliquotas.readTabela(municipio.aliquotasIbsCbs),
  ]);
  return {
    ...settledFacts(municipio),
    hoje: municipalMoment(municipio.codigoIbge ?? cLocEmi, instant).date,
    agora: instant,
    administers: (cTribNac, data) =>
      !hasList || lines.some((line) => line.cTribNac === cTribNac && isInForce(line, data)),
    servicoMunicipal: (cTribMun, data) =>
      hasList ? lines.find((line) => line.codigo === cTribMun && isInForce(line, data)) : 'sem_lista',
    aliquotaRegistrada: (cTribNac, cTribMun, data) =>
      hasList
        ? aliquotaAmong(
            lines.filter(
              (line) =>
                (cTribMun === undefined ? line.cTribNac === cTribNac : line.codigo === cTribMun) &&
                isInForce(line, data),
            ),
          )
        : municipio.aliquotaPadrao,
    tabelaIbsCbs,
  };
}

/** The keys of a DPS in the municipality's registers. */
function nomeadoBy({ prest, serv, valores }: Dps): NomeadoPelaDps {
  return {
    nBM: valores.trib.tribMun.BM?.nBM,
    operacao: {
      cTribNac: serv.cServ.cTribNac,
      documento: prest.CNPJ ?? prest.CPF ?? '',
      regime: prest.regTrib.regEspTrib,
      deduz: valores.vDedRed !== undefined,
    },
  };
}

/** The note that a DPS replaces. Only the provider's own notes are searched. */
async function replacedNota(
  world: Pick<World, 'store'>,
  { tenant }: Municipio,
  { prest }: Dps,
  chave: string,
): Promise<NotaSubstituida> {
  if (isKeyOfOther(chave, prest.CNPJ ?? prest.CPF ?? '')) return 'desconhecida';
  const nota = await world.store.eventos.findNota(tenant, { chave });
  return nota === undefined
    ? 'desconhecida'
    : { estado: nota.estado, eventos: listStanding(nota.eventos.map(toEventoNaNota)) };
}

/** The provider of a DPS. It is a stand-in if there are faults, so that a dry run can continue and report the rest. */
export type Found = {
  readonly prestador: Prestador;
  readonly novo: boolean;
  readonly faults: readonly Fault[];
};

async function findPrestador(world: Pick<World, 'store'>, municipio: Municipio, dps: Dps): Promise<Found> {
  const documento = dps.prest.CNPJ ?? dps.prest.CPF;
  // A missing CNPJ and CPF is a fault of the rule for `prest` (E002), and nothing is looked up.
  if (documento === undefined) return acceptPrestador(describePrestador('', '', dps));
  const settings = AMBIENTES[municipio.ambiente];
  const establishments = await world.store.prestadores.listOf(municipio.tenant, documento);
  if (establishments.length === 0) {
    return settings.registersPrestador && municipio.exigeCadastro !== true
      ? prestadorOfFirstDps(dps, documento)
      : refusePrestador(dps, describeUnregistered(dps));
  }
  if (!settings.checksAuthorization && municipio.exigeCadastro !== true) {
    // An unknown registration passes here, and one of the provider's is assumed.
    const named = ofRegistration(establishments, dps.prest.IM);
    const candidates = named.length > 0 ? named : establishments;
    return acceptPrestador(candidates.find((one) => one.autorizado) ?? candidates[0]!);
  }
  return chooseAuthorized(establishments, dps);
}

/** An authorised establishment is preferred; a municipal registration in the document must be one of the provider's. */
function chooseAuthorized(establishments: readonly Prestador[], dps: Dps): Found {
  const xpath = '/DPS/infDPS/prest';
  const im = dps.prest.IM;
  const ofIm = ofRegistration(establishments, im);
  if (ofIm.length === 0) {
    const mensagem =
      'A inscrição municipal informada não é deste prestador. Confira prest/IM com a prefeitura, ou retire o elemento.';
    return refusePrestador(dps, { codigo: 'E103', xpath: `${xpath}/IM`, mensagem, encontrado: im ?? '' });
  }
  const prestador = ofIm.find((one) => one.autorizado);
  if (prestador !== undefined) return acceptPrestador(prestador);
  return refusePrestador(dps, NAO_AUTORIZADO);
}

/** The registry's fault for a provider without any establishment that may issue. */
export const NAO_AUTORIZADO: Fault = {
  codigo: 'E102',
  xpath: '/DPS/infDPS/prest',
  mensagem: 'O prestador está cadastrado no município, mas não está autorizado a emitir NFS-e. Procure a prefeitura.',
};

/** The establishments of a municipal registration; all of them when none was sent. */
function ofRegistration(establishments: readonly Prestador[], im: string | undefined): readonly Prestador[] {
  if (im === undefined) return establishments;
  return establishments.filter((one) => bareIm(one.inscricaoMunicipal ?? '') === bareIm(im));
}

/** Auto-registration in the sandbox, with its three failures (specification, "Auto-registration of the provider"). */
export function prestadorOfFirstDps(dps: Dps, documento: string): Found {
  const name = dps.prest.CNPJ !== undefined ? 'CNPJ' : 'CPF';
  const isValid = name === 'CNPJ' ? cnpjIsValid(documento) : cpfIsValid(documento);
  const e101 = { codigo: 'E101', xpath: `/DPS/infDPS/prest/${name}` };
  if (!isValid) {
    const mensagem = `O ${name} do prestador não existe: os dígitos verificadores não conferem.`;
    return refusePrestador(dps, { ...e101, mensagem, detalhes: 'documento_invalido', encontrado: documento });
  }
  if (dps.prest.xNome === '') {
    const mensagem =
      'O prestador ainda não está cadastrado no ambiente de integração e prest/xNome está vazio. Informe a razão social, ou retire o elemento para usar um nome genérico.';
    return refusePrestador(dps, {
      ...e101,
      xpath: '/DPS/infDPS/prest/xNome',
      mensagem,
      detalhes: 'razao_social_obrigatoria',
    });
  }
  if (municipioOf(dps.cLocEmi) === undefined) {
    const mensagem = `O prestador não pôde ser cadastrado: o código IBGE ${dps.cLocEmi}, em cLocEmi, não é de nenhum município.`;
    const xpath = '/DPS/infDPS/cLocEmi';
    return refusePrestador(dps, {
      ...e101,
      xpath,
      mensagem,
      detalhes: 'cidade_padrao_indisponivel',
      encontrado: dps.cLocEmi,
    });
  }
  return {
    prestador: describePrestador(documento, dps.prest.xNome ?? `PRESTADOR ${documento}`, dps),
    novo: true,
    faults: [],
  };
}

function describePrestador(documento: string, razaoSocial: string, dps: Dps): Prestador {
  return {
    documento,
    razaoSocial,
    inscricaoMunicipal: dps.prest.IM,
    autorizado: true,
    endereco: ENDERECO_NAO_INFORMADO,
    simples: [],
  };
}

/** The provider as the document describes it: authorised, and in the Simples Nacional for ever or never. */
function prestadorAsSaid(dps: Dps): Prestador {
  const stated = describePrestador(dps.prest.CNPJ ?? dps.prest.CPF ?? '', dps.prest.xNome ?? '', dps);
  const isOptanteAsSaid = dps.prest.regTrib.opSimpNac !== NAO_OPTANTE;
  return { ...stated, simples: isOptanteAsSaid ? [{ inicio: '0000-01-01', fim: undefined }] : [] };
}

/** Value of `opSimpNac` (leiaute 1.01). */
const NAO_OPTANTE = '1';

function describeUnregistered(dps: Dps): Fault {
  const name = dps.prest.CNPJ !== undefined ? 'CNPJ' : 'CPF';
  const mensagem = `O ${name} do prestador não está cadastrado neste município. Confira o documento e o endereço de envio, ou procure a prefeitura.`;
  return { codigo: 'E101', xpath: `/DPS/infDPS/prest/${name}`, mensagem };
}

function acceptPrestador(prestador: Prestador): Found {
  return { prestador, novo: false, faults: [] };
}

function refusePrestador(dps: Dps, fault: Fault): Found {
  return { prestador: prestadorAsSaid(dps), novo: false, faults: [fault] };
}
