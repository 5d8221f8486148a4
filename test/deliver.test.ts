/**
 * Delivery with the real store and an ADN with all behaviours: accept, refuse, be unreachable, accept and lose the answer, fail. The test
 * controls the clock, and reads public data as the public does.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type {
  Adn,
  AdnErro,
  AdnKnowledge,
  DocumentToShare,
  EventoAnswer,
  EventoAsked,
  EventoToShare,
  NotaAnswer,
  NotaAsked,
} from '../src/adn/adn.ts';
import type { Municipio } from '../src/base/book/municipios.ts';
import type { Delivered } from '../src/base/delivery/deliver.ts';
import type { Db } from '../src/base/pg/open.ts';
import { StoreUnavailable } from '../src/base/pg/unavailable.ts';
import { listMunicipios, showMunicipio } from '../src/base/world/municipios.ts';
import type { World } from '../src/base/world/world.ts';
import { HOUR_MS, MINUTE_MS } from '../src/fiscal/moment.ts';
import { notaMove } from '../src/fiscal/nota.ts';
import { exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import type { ListDue } from '../src/subjects/envio/due.rows.ts';
import { registerEvento } from '../src/subjects/eventos/register.ts';
import { deliverNotas } from '../src/subjects/notas/deliver.job.ts';
import { type IssuedNota, issueNota } from '../src/subjects/notas/issue.ts';
import { retirarNota, showNota } from '../src/subjects/notas/operate.ts';
import { type NotaReading, notaByChave } from '../src/subjects/notas/queries.ts';
import { createStore } from '../src/wiring/store.ts';
import { shortenWaits } from '../src/wiring/upkeep.ts';
import { startWorker } from '../src/wiring/worker.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseHere } from './support/cli.ts';
import { countCalls } from './support/counted-calls.ts';
import { freshPool } from './support/database.ts';
import { asSandbox } from './support/municipio.ts';
import { noAvisos } from './support/no-avisos.ts';
import { NO_SUCH_KEY } from './support/notas.ts';
import { recorded, type Statements } from './support/plans.ts';
import fc from './support/seed.ts';
import { NOON } from './support/service.ts';
import { nobodyTrusted } from './support/trust.ts';
import { assertStays, until } from './support/until.ts';

/** The reaction of the ADN to a note. `lost`: the ADN accepts it, but the answer does not arrive. */
type Mood = 'accepts' | 'refuses' | 'too_early' | 'unknown' | 'lost' | 'away' | 'silent' | 'breaks';

const ERROS: readonly AdnErro[] = [
  { codigo: 'E1234', descricao: 'Código de tributação não administrado', complemento: 'cTribNac 010101' },
  { codigo: 'E0999', descricao: 'Outro motivo' },
];

/** A small realistic ADN: it remembers accepted notes, and reports each second acceptance to the test. */
class FakeAdn implements Adn {
  readonly wantsDocuments: boolean = true;
  batchMax = 50;
  searchMax = 0;
  mood: (chave: string, tenant: string) => Mood = () => 'accepts';
  findBreaks = false;
  findIsAway = false;
  readonly known = new Set<string>();
  readonly sent: string[] = [];
  readonly sentTwice: string[] = [];
  readonly asked: string[] = [];
  /** The number from which the last scan started. */
  askedFrom: readonly string[] = [];
  /** The number that an unsuccessful scan has reached. */
  place: string | undefined;
  readonly documents = new Map<string, Uint8Array | undefined>();
  /** Runs when notes arrive, before they are answered. */
  onShare: () => Promise<void> = async () => undefined;

  async share(tenant: string, documents: readonly DocumentToShare[]): Promise<ReadonlyMap<string, NotaAnswer>> {
    assert.ok(documents.length >= 1 && documents.length <= this.batchMax);
    await this.onShare();
    const answers = new Map<string, NotaAnswer>();
    for (const { chave_acesso: chave, xml } of documents) {
      this.sent.push(chave);
      this.documents.set(chave, xml);
      if (this.known.has(chave)) this.sentTwice.push(chave);
      const mood = this.mood(chave, tenant);
      if (mood === 'breaks') throw new Error('the library for the ADN broke');
      if (mood === 'accepts' || mood === 'lost') this.known.add(chave);
      if (mood === 'silent') continue;
      answers.set(chave, ANSWERS[mood]);
    }
    return answers;
  }

  async find(_tenant: string, notas: readonly NotaAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>> {
    this.asked.push(...notas.map(({ chave_acesso }) => chave_acesso));
    this.askedFrom = notas.map(({ nsu_antes }) => nsu_antes);
    if (this.findBreaks) throw new Error('the library for the ADN broke');
    return new Map(notas.map(({ chave_acesso }) => [chave_acesso, this.knowledgeOf(chave_acesso)]));
  }

  /** Events are not the subject of this file. */
  async shareEventos(_tenant: string, eventos: readonly EventoToShare[]): Promise<ReadonlyMap<string, EventoAnswer>> {
    return new Map(eventos.map(({ id }) => [id, { kind: 'accepted', nsu: undefined }]));
  }

  async findEventos(_tenant: string, eventos: readonly EventoAsked[]): Promise<ReadonlyMap<string, AdnKnowledge>> {
    return new Map(eventos.map(({ id }) => [id, { kind: 'absent' }]));
  }

  pauseMs(): number {
    return 0;
  }

  private knowledgeOf(chave: string): AdnKnowledge {
    const place = this.place === undefined ? {} : { place: this.place };
    if (this.findIsAway) return { kind: 'unavailable', why: 'consulta sem resposta', ...place };
    return this.known.has(chave) ? { kind: 'known', nsu: undefined, xml: undefined } : { kind: 'absent', ...place };
  }
}

const ANSWERS: Readonly<Record<Exclude<Mood, 'silent' | 'breaks'>, NotaAnswer>> = {
  accepts: { kind: 'accepted', nsu: undefined },
  refuses: { kind: 'refused', erros: ERROS },
  too_early: { kind: 'too_early', erros: [{ codigo: 'E1308', descricao: 'Falta o evento da nota substituída' }] },
  unknown: { kind: 'unknown', why: 'tempo esgotado' },
  lost: { kind: 'unknown', why: 'conexão interrompida' },
  away: { kind: 'unavailable', why: 'conexão recusada' },
};

const byMaria = (motivo: string) => ({ motivo, quem: 'maria', via: 'comando' }) as const;

let shared: Promise<Db> | undefined;
let opened = 0;

class Town {
  readonly adn = new FakeAdn();
  readonly clock = { now: NOON };
  readonly logged: { level: string; about: object; message: string }[] = [];
  readonly municipio: Municipio;
  readonly world: World;
  readonly pool: Db;
  private random = 0;
  private sent = 0;

  private constructor(pool: Db, tenant: string) {
    this.pool = pool;
    this.municipio = asSandbox(tenant);
    const log =
      (level: string) =>
      (about: object, message: string): void =>
        void this.logged.push({ level, about, message });
    this.world = {
      store: createStore(pool),
      transmission: async () => ({ adn: this.adn, signer: undefined }),
      trust: () => nobodyTrusted,
      now: () => this.clock.now,
      randomDigits: (count) => {
        this.random += 1;
        return String(this.random).padStart(count, '0');
      },
      log: { info: log('info'), warn: log('warn'), error: log('error') },
      postAviso: noAvisos,
      wake: () => undefined,
    };
  }

  /** A new municipality in the database of this file. */
  static async open(): Promise<Town> {
    shared ??= freshPool();
    opened += 1;
    const town = new Town(await shared, `alfa${opened}`);
    await town.world.store.municipios.create(town.municipio, town.clock.now);
    return town;
  }

  /** Several tenants in a separate database, for a worker that visits all of them. */
  static async alone(...tenants: readonly string[]): Promise<Town> {
    const town = new Town(await freshPool(), tenants[0]!);
    for (const tenant of tenants) {
      await town.world.store.municipios.create({ ...town.municipio, tenant }, town.clock.now);
    }
    return town;
  }

  /** Issues a note, with a new number each time unless one is given. */
  async issue(nDPS?: string, municipio = this.municipio, patch: Patch = {}): Promise<IssuedNota> {
    this.sent += 1;
    const xml = exampleXml({ serie: '1', nDPS: nDPS ?? String(this.sent), ...patch });
    const issued = await issueNota(this.world, municipio, { kind: 'xml', body: Buffer.from(xml) });
    assert.ok('chave_acesso' in issued, JSON.stringify(issued));
    return issued;
  }

  deliver(): Promise<Delivered> {
    return deliverNotas(this.world, this.municipio);
  }

  async read({ chave_acesso }: IssuedNota): Promise<NotaReading> {
    const reading = await notaByChave(this.world, this.municipio, chave_acesso);
    assert.ok(reading);
    return reading;
  }

  /** The public view of a note: status, status of the protocolo, whether the key is provisional. */
  async shown(issued: IssuedNota): Promise<readonly [string, string, boolean]> {
    const { nota, protocolo, chave_acesso_provisoria } = await this.read(issued);
    return [nota.status, protocolo.status, chave_acesso_provisoria];
  }

  /** Milliseconds until the note is due; undefined when it rests. */
  async dueIn({ chave_acesso }: IssuedNota): Promise<number | undefined> {
    const text = `select f.due_at from notas n left join fila f on f.tenant = $1 and f.tipo = 'nota' and f.id = n.id
      where n.tenant = $1 and n.chave_acesso = $2`;
    const { rows } = await this.pool.query<{ due_at: Date | null }>(text, [this.municipio.tenant, chave_acesso]);
    return rows[0]!.due_at === null ? undefined : rows[0]!.due_at.getTime() - this.clock.now;
  }

  async estadoOf({ chave_acesso }: IssuedNota): Promise<string | undefined> {
    return (await this.world.store.notas.findByChave(this.municipio.tenant, chave_acesso))?.estado;
  }
}

const DRAFT = ['rascunho', 'processando', true] as const;
const AUTHORISED = ['autorizada', 'autorizado', false] as const;
const REFUSED = ['rascunho', 'rejeitado', true] as const;

describe('a note that the ADN takes', () => {
  test('is authorised, and nothing more happens to it', async () => {
    const town = await Town.open();
    const note = await town.issue();
    assert.deepEqual(await town.shown(note), DRAFT);
    town.clock.now += 5000;
    assert.deepEqual(await town.deliver(), { delivered: 1, isFull: false, pauseMs: 0 });
    assert.deepEqual(await town.shown(note), AUTHORISED);
    const { nota, protocolo, proxima } = await town.read(note);
    assert.deepEqual([nota.numero, nota.codigo_situacao_nfse, proxima], ['1', 100, undefined]);
    assert.equal(nota.xml_nota, note.xml_nfse, 'the NFS-e, from authorisation on');
    assert.deepEqual(protocolo, {
      numero_protocolo: note.numero_protocolo,
      status: 'autorizado',
      acao_sugerida: null,
      proxima_consulta: null,
      mensagem_retorno: null,
      data_protocolo: '2026-11-21 12:00:00 -0300',
      chave_acesso: note.chave_acesso,
    });
    town.clock.now += 1000 * MINUTE_MS;
    assert.deepEqual(await town.deliver(), { delivered: 0, isFull: false, pauseMs: 0 });
    assert.deepEqual(town.adn.sent, [note.chave_acesso]);
    assert.deepEqual(town.adn.asked, [], 'a note that was never sent is not asked about');
  });

  test('was sent as it was issued', async () => {
    const town = await Town.open();
    const notes = [await town.issue(), await town.issue()];
    await town.deliver();
    for (const { chave_acesso, xml_nfse } of notes) {
      assert.equal(Buffer.from(town.adn.documents.get(chave_acesso)!).toString(), xml_nfse);
    }
  });

  test('was announced before: whoever looks while it is being sent sees it transmitted', async () => {
    const town = await Town.open();
    const note = await town.issue();
    const seen: (string | undefined)[] = [];
    town.adn.onShare = async () => void seen.push(await town.estadoOf(note));
    await town.deliver();
    assert.deepEqual(seen, ['transmitida']);
  });

  test('leaves in batches that the ADN takes, until nothing is due', async () => {
    const town = await Town.open();
    town.adn.batchMax = 2;
    const notes = [];
    for (let place = 0; place < 5; place += 1) notes.push(await town.issue());
    const rounds = [];
    for (let round = 0; round < 4; round += 1) rounds.push(await town.deliver());
    assert.deepEqual(rounds, [
      { delivered: 2, isFull: true, pauseMs: 0 },
      { delivered: 2, isFull: true, pauseMs: 0 },
      { delivered: 1, isFull: false, pauseMs: 0 },
      { delivered: 0, isFull: false, pauseMs: 0 },
    ]);
    assert.deepEqual(town.adn.sent.toSorted(), notes.map(({ chave_acesso }) => chave_acesso).toSorted());
  });
});

describe('a note that the ADN refuses (D-20)', () => {
  test('stays a draft, its protocolo is rejected with every reason, and it is not sent again', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'refuses';
    const note = await town.issue();
    await town.deliver();
    assert.deepEqual(await town.shown(note), REFUSED);
    const { protocolo, nota, proxima } = await town.read(note);
    for (const { codigo, descricao, complemento } of ERROS) {
      for (const text of [codigo, descricao, complemento ?? '']) assert.ok(protocolo.mensagem_retorno?.includes(text));
    }
    assert.ok(protocolo.mensagem_retorno!.indexOf('E1234') < protocolo.mensagem_retorno!.indexOf('E0999'));
    assert.doesNotMatch(protocolo.mensagem_retorno!, /undefined/);
    assert.deepEqual([nota.numero, nota.codigo_situacao_nfse, proxima], [null, null, undefined]);
    town.adn.mood = () => 'accepts';
    town.clock.now += 1000 * MINUTE_MS;
    assert.equal((await town.deliver()).delivered, 0);
    assert.deepEqual(town.adn.sent, [note.chave_acesso]);
  });

  test('sets series and number free; the refused note and its key stay', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'refuses';
    const refused = await town.issue('7');
    const xml = Buffer.from(exampleXml({ serie: '1', nDPS: '7' }));
    const before = await issueNota(town.world, town.municipio, { kind: 'xml', body: xml });
    assert.ok('faults' in before);
    assert.equal(before.faults[0].codigo, 'E0014', 'as long as it is under way it holds them');
    await town.deliver();

    town.adn.mood = () => 'accepts';
    const again = await town.issue('7');
    assert.notEqual(again.chave_acesso, refused.chave_acesso);
    assert.notEqual(again.numero_protocolo, refused.numero_protocolo);
    await town.deliver();
    assert.deepEqual(await town.shown(again), AUTHORISED);
    assert.deepEqual(await town.shown(refused), REFUSED);
  });

  test('does not hold up the others of its batch', async () => {
    const town = await Town.open();
    const notes = [await town.issue(), await town.issue(), await town.issue()];
    const [first, second, third] = notes as [IssuedNota, IssuedNota, IssuedNota];
    town.adn.mood = (chave) =>
      chave === second.chave_acesso ? 'refuses' : chave === third.chave_acesso ? 'away' : 'accepts';
    await town.deliver();
    assert.deepEqual(await town.shown(first), AUTHORISED);
    assert.deepEqual(await town.shown(second), REFUSED);
    assert.deepEqual(await town.shown(third), DRAFT);
  });
});

describe('a note that comes before the event of the one that it replaces (E1308)', () => {
  test('waits as a draft that says for what, longer each time up to a quarter of an hour, and goes when it may', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'too_early';
    const note = await town.issue();
    const quarter = 15 * MINUTE_MS;
    for (const most of [
      1_000,
      2_000,
      4_000,
      8_000,
      16_000,
      32_000,
      64_000,
      128_000,
      256_000,
      512_000,
      quarter,
      quarter,
    ]) {
      assert.deepEqual(await town.deliver(), { delivered: 1, isFull: false, pauseMs: 0 });
      assert.deepEqual(await town.shown(note), DRAFT);
      const { protocolo, proxima } = await town.read(note);
      assert.match(protocolo.mensagem_retorno!, /cancelamento_por_substituicao.*E1308: Falta o evento/);
      const due = (await town.dueIn(note))!;
      // The event can make the note due at any time, so clients should ask at least once a minute.
      assert.equal(proxima, town.clock.now + Math.min(Math.max(due, 1_000), 60_000));
      assert.ok(due <= most && due >= most * 0.75, `${due} of ${most}`);
      town.clock.now += due;
    }
    town.adn.mood = () => 'accepts';
    await town.deliver();
    assert.deepEqual(await town.shown(note), AUTHORISED);
    assert.equal((await town.read(note)).protocolo.mensagem_retorno, null);
    assert.ok(town.logged.every(({ level }) => level !== 'error'));
  });

  test('is no trouble of the municipality: while others go nothing is said, alone it is said what they wait for', async () => {
    const town = await Town.open();
    const early = await town.issue();
    const problem = async () => (await showMunicipio(town.world, town.municipio.tenant)).transmissao?.problema;
    town.adn.mood = (chave) => (chave === early.chave_acesso ? 'too_early' : 'accepts');
    await town.deliver();
    assert.match((await problem())!, /^há notas que substituem outras, .*cancelamento_por_substituicao/);
    await town.issue();
    town.clock.now += 2 * MINUTE_MS;
    await town.deliver();
    assert.equal(await problem(), undefined);
  });
});

describe('a note that replaces one that stands here', () => {
  const replacing = async (town: Town, antiga: string): Promise<IssuedNota> => {
    const patch = { 'subst/chSubstda': antiga, 'subst/cMotivo': '01' } as const;
    return town.issue(undefined, town.municipio, patch);
  };

  test('is neither sent nor asked about; once that one is cancelled it goes, however that came', async () => {
    const town = await Town.open();
    const antiga = await town.issue();
    const nova = await replacing(town, antiga.chave_acesso);
    await town.deliver();
    assert.deepEqual([await town.shown(antiga), await town.shown(nova)], [AUTHORISED, DRAFT]);
    for (let minutes = 0; minutes < 3; minutes += 1) {
      town.clock.now += 2 * MINUTE_MS;
      assert.equal((await town.deliver()).delivered, 1);
      assert.match((await town.read(nova)).protocolo.mensagem_retorno!, /espera pelo evento .*segue sozinha\.$/);
    }
    assert.deepEqual([town.adn.sent, town.adn.asked], [[antiga.chave_acesso], []]);
    await town.pool.query("update notas set estado = 'cancelada' where tenant = $1 and chave_acesso = $2", [
      town.municipio.tenant,
      antiga.chave_acesso,
    ]);
    town.clock.now += 2 * MINUTE_MS;
    await town.deliver();
    assert.deepEqual(await town.shown(nova), AUTHORISED);
  });

  test('is sent when that one was refused, or is none of ours: the ADN says what is the matter', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'refuses';
    const refused = await town.issue();
    await town.deliver();
    const ofNone = await replacing(town, refused.chave_acesso);
    const ofAnother = await replacing(town, NO_SUCH_KEY);
    await town.deliver();
    assert.deepEqual(
      town.adn.sent,
      [refused, ofNone, ofAnother].map(({ chave_acesso }) => chave_acesso),
    );
  });

  test('whose event will not come is withdrawn by the operator: never sent, its number free, and its events waived', async () => {
    const town = await Town.open();
    const antiga = await town.issue();
    await town.deliver();
    const nova = await replacing(town, antiga.chave_acesso);
    const ofNova = await replacing(town, nova.chave_acesso);
    await town.deliver();
    const { tenant } = town.municipio;
    const [chave, by] = [nova.chave_acesso, byMaria('O ADN recusou a substituição (E0845)')] as const;
    const cancelamento = {
      tipo_evento: 'cancelamento',
      codigo_motivo_cancelamento: '9',
      descricao_motivo_cancelamento: 'O serviço não será prestado',
    };
    const body = Buffer.from(JSON.stringify(cancelamento));
    const sent = { kind: 'json', body, assinatura: undefined, simular: undefined } as const;
    const waiting = await registerEvento(town.world, town.municipio, { chave }, sent);
    assert.ok(typeof waiting === 'object' && 'evento' in waiting);

    const claimed = await town.world.store.notas.claim(
      tenant,
      town.clock.now + HOUR_MS,
      town.clock.now + 2 * HOUR_MS,
      9,
    );
    assert.match((await retirarNota(town.world, tenant, chave, by))!.problem, /Tente de novo/);
    await town.world.store.notas.settle(
      tenant,
      claimed.token,
      town.clock.now,
      claimed.notas.map(({ id, mes }) => ({
        id,
        mes,
        move: notaMove('transmitida', 'espera')!,
        mensagem_retorno: undefined,
        dueAt: town.clock.now + HOUR_MS,
      })),
    );
    assert.match((await retirarNota(town.world, tenant, antiga.chave_acesso, by))!.problem, /não substitui outra/);
    assert.match(
      (await retirarNota(town.world, tenant, chave, { ...by, motivo: ' ' }))!.problem,
      /--motivo está vazio/,
    );
    const here = (...args: readonly string[]) => nfseHere(['nota', ...args, '--municipio', tenant], town.pool);
    const before = await here('mostrar', chave);
    assert.match(before.out, new RegExp(`substitui +${antiga.chave_acesso}[^]*emitida → transmitida \\(anuncio\\)`));
    assert.match(before.out, new RegExp(`nfse nota retirar ${chave} --municipio ${tenant} --motivo`));
    const unexplained = await here('retirar', chave);
    assert.deepEqual([unexplained.code, /Falta --motivo/.test(unexplained.err)], [2, true]);
    assert.equal((await here('retirar', antiga.chave_acesso, '--motivo', 'x')).code, 1);
    assert.equal(await retirarNota(town.world, tenant, chave, by), undefined);
    assert.match(
      (await here('mostrar', chave)).out,
      /emitida → recusada \(retirada, por maria\): O ADN recusou a subst/,
    );

    assert.deepEqual(await town.shown(nova), REFUSED);
    const mensagem = `Retirada pelo município antes da transmissão ao ADN: ${by.motivo}`;
    assert.equal((await town.read(nova)).protocolo.mensagem_retorno, mensagem);
    const evento = (await town.world.store.eventos.findById(tenant, String(waiting.evento.id_evento)))!;
    assert.equal(evento.estado, 'dispensado');
    assert.match(evento.mensagem_retorno!, /A nota foi recusada.*Retirada pelo município/);
    const shown = await showNota(town.world, tenant, chave);
    assert.ok('trilha' in shown);
    const { gatilho, para, mensagem: why, quem } = shown.trilha.at(-1)!;
    assert.deepEqual([gatilho, para, why, quem], ['retirada', 'recusada', by.motivo, by.quem]);
    assert.deepEqual([shown.substitui, shown.podeRetirar], [antiga.chave_acesso, false]);
    assert.match((await retirarNota(town.world, tenant, chave, by))!.problem, /está recusada.*Não há o que retirar/);
    assert.deepEqual(town.adn.sent, [antiga.chave_acesso]);
    // The substitute is due at once, and the number of the withdrawn note is free.
    assert.equal(await town.dueIn(ofNova), 0);
    assert.notEqual((await town.issue('2')).chave_acesso, chave);
  });

  test('is not withdrawn while an event on the replaced note names it, nor when that one is at its end', async () => {
    const town = await Town.open();
    const antiga = await town.issue();
    await town.deliver();
    const nova = await replacing(town, antiga.chave_acesso);
    await town.deliver();
    const { tenant } = town.municipio;
    const by = byMaria('Não virá');
    const problem = async () => (await retirarNota(town.world, tenant, nova.chave_acesso, by))?.problem;
    const substituicao = {
      tipo_evento: 'cancelamento_por_substituicao',
      codigo_motivo_cancelamento: '01',
      chave_acesso_substituta: nova.chave_acesso,
    };
    const body = Buffer.from(JSON.stringify(substituicao));
    const sent = { kind: 'json', body, assinatura: undefined, simular: undefined } as const;
    const naming = await registerEvento(town.world, town.municipio, { chave: antiga.chave_acesso }, sent);
    assert.ok(typeof naming === 'object' && 'evento' in naming, JSON.stringify(naming));
    const id = String(naming.evento.id_evento);
    const at = 'update eventos set estado = $3, aberto = $4 where tenant = $1 and id = $2';
    for (const estado of ['pendente', 'erro', 'erro_reprocessamento'] as const) {
      await town.pool.query(at, [tenant, id, estado, estado === 'pendente']);
      assert.match((await problem())!, new RegExp(`O evento ${id} .*está ${estado}: pode cancelar aquela`));
    }
    await town.pool.query(at, [tenant, id, 'rejeitado', false]);
    const cancel = 'update notas set estado = $3 where tenant = $1 and chave_acesso = $2';
    await town.pool.query(cancel, [tenant, antiga.chave_acesso, 'cancelada']);
    assert.match((await problem())!, /está cancelada: esta já não espera/);
    await town.pool.query(cancel, [tenant, antiga.chave_acesso, 'autorizada']);
    assert.equal(await problem(), undefined);
    const again = await registerEvento(town.world, town.municipio, { chave: antiga.chave_acesso }, sent);
    assert.ok(typeof again === 'object' && 'faults' in again);
    assert.deepEqual([again.faults[0].codigo, /retirada/.test(again.faults[0].mensagem)], ['E1310', true]);
  });

  test('does not hide from the operator what was known to be wrong', async () => {
    const town = await Town.open();
    const antiga = await town.issue();
    await town.deliver();
    await replacing(town, antiga.chave_acesso);
    await town.world.store.municipios.noteProblem(town.municipio.tenant, 'conexão recusada', town.clock.now);
    await town.deliver();
    assert.equal((await showMunicipio(town.world, town.municipio.tenant)).transmissao?.problema, 'conexão recusada');
  });
});

describe('a note about which nothing is known', () => {
  for (const mood of ['away', 'unknown', 'silent'] as const) {
    test(`(${mood}) waits as a draft, and is asked about before it is sent again`, async () => {
      const town = await Town.open();
      town.adn.mood = () => mood;
      const note = await town.issue();
      await town.deliver();
      assert.deepEqual(await town.shown(note), DRAFT);
      const { mensagem_retorno } = (await town.read(note)).protocolo;
      assert.equal(mensagem_retorno, 'O município não transmite ao ambiente nacional desde 21/11/2026 12:00:00.');
      assert.equal((await town.deliver()).delivered, 0, 'not at once');

      town.adn.mood = () => 'accepts';
      town.clock.now += (await town.dueIn(note))!;
      await town.deliver();
      assert.deepEqual(town.adn.asked, [note.chave_acesso]);
      assert.deepEqual(town.adn.sent, [note.chave_acesso, note.chave_acesso], 'it had not arrived');
      assert.deepEqual(await town.shown(note), AUTHORISED);
    });
  }

  test('(lost) is found there, and never sent a second time', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'lost';
    const note = await town.issue();
    await town.deliver();
    assert.deepEqual(await town.shown(note), DRAFT);
    town.clock.now += (await town.dueIn(note))!;
    await town.deliver();
    assert.deepEqual(await town.shown(note), AUTHORISED);
    assert.deepEqual([town.adn.sent.length, town.adn.sentTwice], [1, []]);
  });

  test('is not sent while the ADN cannot even be asked', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'lost';
    const note = await town.issue();
    await town.deliver();
    town.adn.findIsAway = true;
    for (let round = 0; round < 3; round += 1) {
      town.clock.now += (await town.dueIn(note))!;
      assert.equal((await town.deliver()).delivered, 1);
      assert.deepEqual(await town.shown(note), DRAFT);
    }
    assert.equal(town.adn.sent.length, 1);
    town.adn.findIsAway = false;
    town.clock.now += (await town.dueIn(note))!;
    await town.deliver();
    assert.deepEqual(await town.shown(note), AUTHORISED);
    assert.deepEqual(town.adn.sentTwice, []);
  });

  test('is asked about alone: fresh notes beside it are simply sent', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'lost';
    const old = await town.issue();
    await town.deliver();
    town.adn.mood = () => 'accepts';
    const fresh = await town.issue();
    town.clock.now += (await town.dueIn(old))!;
    assert.equal((await town.deliver()).delivered, 2);
    assert.deepEqual(town.adn.asked, [old.chave_acesso]);
    assert.deepEqual(town.adn.sent, [old.chave_acesso, fresh.chave_acesso]);
  });

  test('is looked for together with all others in doubt, and the next look begins where that one ended', async () => {
    const town = await Town.open();
    town.adn.searchMax = 100;
    town.adn.mood = () => 'unknown';
    const notes = [await town.issue(), await town.issue(), await town.issue()];
    await town.deliver();
    town.clock.now += (await town.dueIn(notes[1]!))!;
    // One due note of a batch is enough to look for all, due or not.
    town.adn.batchMax = 1;
    town.adn.findIsAway = true;
    town.adn.place = '41';
    const looked = await town.deliver();
    assert.deepEqual([looked.delivered, looked.isDoubtful], [3, true]);
    assert.deepEqual(town.adn.asked.toSorted(), notes.map(({ chave_acesso }) => chave_acesso).toSorted());
    assert.deepEqual(town.adn.askedFrom, ['0', '0', '0']);

    town.adn.place = '7';
    town.clock.now += MINUTE_MS;
    await town.deliver();
    assert.deepEqual(town.adn.askedFrom, ['41', '41', '41']);

    town.adn.batchMax = 50;
    town.adn.findIsAway = false;
    town.adn.mood = () => 'accepts';
    town.clock.now += MINUTE_MS;
    await town.deliver();
    assert.deepEqual(town.adn.askedFrom, ['41', '41', '41'], 'no look takes a place back');
    for (const note of notes) assert.deepEqual(await town.shown(note), AUTHORISED);
    assert.deepEqual(town.adn.sentTwice, []);
  });

  test('waits longer each time, up to a cap, without end (D-52)', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'away';
    const note = await town.issue();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 40; attempt += 1) {
      assert.equal((await town.deliver()).delivered, 1, `attempt ${attempt}`);
      const wait = (await town.dueIn(note))!;
      waits.push(wait);
      town.clock.now += wait - 1;
      assert.equal((await town.deliver()).delivered, 0, 'not a moment before');
      town.clock.now += 1;
    }
    // The wait doubles from one second to one minute; the last quarter of each wait is random.
    for (const [place, wait] of waits.entries()) {
      const whole = Math.min(1_000 * 2 ** place, MINUTE_MS);
      assert.ok(wait >= 0.75 * whole && wait <= whole, waits.join(' '));
    }
    town.adn.mood = () => 'accepts';
    await town.deliver();
    assert.deepEqual(await town.shown(note), AUTHORISED, 'and is delivered all the same');
  });
});

describe('a delivery that dies', () => {
  for (const what of ['share', 'find'] as const) {
    test(`in ${what} leaves its notes announced; after the lease they are asked about first`, async () => {
      const town = await Town.open();
      const note = await town.issue();
      if (what === 'find') {
        town.adn.mood = () => 'lost';
        await town.deliver();
        town.clock.now += (await town.dueIn(note))!;
        town.adn.findBreaks = true;
      } else town.adn.mood = () => 'breaks';
      await assert.rejects(town.deliver(), /broke/);
      assert.equal(await town.estadoOf(note), 'transmitida');
      assert.deepEqual(await town.shown(note), DRAFT);

      town.adn.mood = () => 'accepts';
      town.adn.findBreaks = false;
      assert.equal((await town.deliver()).delivered, 0, 'the lease holds');
      town.clock.now += (await town.dueIn(note))!;
      const asked = town.adn.asked.length;
      assert.equal((await town.deliver()).delivered, 1);
      assert.deepEqual(town.adn.asked.slice(asked), [note.chave_acesso]);
      assert.deepEqual(await town.shown(note), AUTHORISED);
      assert.deepEqual(town.adn.sentTwice, []);
    });
  }

  test('and wakes again after another took over writes nothing, and says so in the log', async () => {
    const town = await Town.open();
    const note = await town.issue();
    town.adn.mood = () => 'refuses';
    let nested: Delivered | undefined;
    town.adn.onShare = async () => {
      town.adn.onShare = async () => undefined;
      town.clock.now += 60 * MINUTE_MS;
      town.adn.mood = () => 'accepts';
      nested = await town.deliver();
      town.adn.mood = () => 'refuses';
    };
    await town.deliver();
    assert.equal(nested?.delivered, 1);
    assert.deepEqual(await town.shown(note), AUTHORISED, 'the outcome of who held the claim');
    assert.equal((await town.read(note)).protocolo.mensagem_retorno, null);
    assert.ok(town.logged.some(({ level, about }) => level === 'warn' && 'lost' in about && about.lost === 1));
  });
});

describe('why notes wait, for the operator', () => {
  const problemOf = async (town: Town): Promise<string | undefined> =>
    (await town.world.store.municipios.findProblem(town.municipio.tenant))?.problema;

  test('is what the ADN last said, until it decides about a note again', async () => {
    const town = await Town.open();
    const { tenant } = town.municipio;
    town.adn.mood = () => 'away';
    const note = await town.issue();
    assert.equal((await showMunicipio(town.world, tenant)).transmissao, undefined);
    await town.deliver();
    const shown = await showMunicipio(town.world, tenant);
    const noon = '21/11/2026 12:00:00';
    assert.deepEqual(shown.transmissao, { problema: 'conexão recusada', desde: noon, vistoEm: noon });
    assert.deepEqual([shown.espera?.notas, shown.espera?.desde], [1, noon]);
    assert.match(shown.espera!.proxima!, /^21\/11\/2026 12:00:0[01]$/);
    assert.equal((await listMunicipios(town.world)).find((one) => one.tenant === tenant)?.espera, 1);
    const said = await nfseHere(['municipio', 'mostrar', tenant], town.pool);
    assert.match(said.out, /à espera +1 nota, emitida em 21\/11\/2026 12:00:00; próxima tentativa/);
    assert.match(said.out, /transmissão +conexão recusada \(desde 21\/11\/2026 12:00:00; visto ainda em /);

    town.adn.mood = () => 'silent';
    town.clock.now += 2 * MINUTE_MS;
    await town.deliver();
    assert.match((await problemOf(town))!, /não disse o que foi feito/);
    town.adn.mood = () => 'refuses';
    town.clock.now += 2 * MINUTE_MS;
    await town.deliver();
    assert.deepEqual(await town.shown(note), REFUSED);
    const after = await showMunicipio(town.world, tenant);
    assert.deepEqual([after.transmissao, after.espera], [undefined, undefined]);
  });

  test('is what the files of the municipality lack', async () => {
    const town = await Town.open();
    await town.issue();
    const problem = '/chaves/municipio.key: o arquivo não existe. Confira o caminho.';
    await deliverNotas({ ...town.world, transmission: async () => ({ problem }) }, town.municipio);
    assert.equal(await problemOf(town), problem);
    await town.deliver();
    assert.equal(await problemOf(town), undefined);
  });

  test('while nobody tries, is what was known before, or that the ADN does not answer', async () => {
    const town = await Town.open();
    await town.issue();
    town.adn.pauseMs = () => 5_000;
    await town.deliver();
    assert.match((await problemOf(town))!, /o ADN não está respondendo/);
    town.adn.pauseMs = () => 0;
    town.adn.mood = () => 'unknown';
    await town.deliver();
    assert.equal(await problemOf(town), 'tempo esgotado');
    town.adn.pauseMs = () => 5_000;
    town.clock.now += 2 * MINUTE_MS;
    await town.deliver();
    assert.equal(await problemOf(town), 'tempo esgotado');
    // Another process has not had this failure.
    const other = { ...town.world, store: createStore(town.pool) };
    await deliverNotas(other, town.municipio);
    assert.equal(await problemOf(town), 'tempo esgotado');
  });

  test('is not written again while nothing changes, and holds up no note when it cannot be written', async () => {
    const town = await Town.open();
    const told: (string | undefined)[] = [];
    const statements = { set: (text: string) => text.includes('transmissoes') && told.push(text) };
    const counting = recorded(town.pool, statements as unknown as Statements);
    const world = { ...town.world, store: createStore(counting) };
    for (let round = 0; round < 5; round += 1) {
      await town.issue();
      await deliverNotas(world, town.municipio);
      town.clock.now += 5_000;
    }
    assert.equal(told.length, 1, 'one to be sure that there is none, and no more');

    const broken = {
      ...town.world.store,
      municipios: {
        ...town.world.store.municipios,
        noteProblem: async (): Promise<void> => {
          throw new StoreUnavailable('gone', 'the database is away');
        },
      },
    };
    const note = await town.issue();
    await deliverNotas({ ...town.world, store: broken }, town.municipio);
    assert.deepEqual(await town.shown(note), AUTHORISED);
    assert.ok(town.logged.some(({ level, message }) => level === 'warn' && /não pôde ser anotado/.test(message)));
  });
});

describe('whatever the ADN does', () => {
  const MOODS = [
    'accepts',
    'refuses',
    'unknown',
    'lost',
    'away',
    'silent',
    'breaks',
  ] as const satisfies readonly Mood[];

  test('every note ends as the ADN decided, and none is sent to it twice', async () => {
    const town = await Town.open();
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.constantFrom(...MOODS), { maxLength: 6 }), { minLength: 1, maxLength: 12 }),
        fc.array(fc.constantFrom('well', 'away', 'breaks'), { maxLength: 6 }),
        async (moods, finding) => {
          const notes: IssuedNota[] = [];
          for (const _ of moods) notes.push(await town.issue());
          const plan = new Map(notes.map(({ chave_acesso }, place) => [chave_acesso, [...moods[place]!]]));
          const refused = new Set<string>();
          town.adn.mood = (chave) => {
            const mood = plan.get(chave)?.shift() ?? 'accepts';
            if (mood === 'refuses') refused.add(chave);
            return mood;
          };
          const findings = [...finding];
          // Each mood and each failing search costs a round, and each uncertain mood another; the rest goes at once.
          const rounds = 2 * (moods.flat().length + finding.length + 2);
          for (let round = 0; round < rounds; round += 1) {
            const next = findings.shift();
            town.adn.findIsAway = next === 'away';
            town.adn.findBreaks = next === 'breaks';
            await town.deliver().catch(() => undefined);
            town.clock.now += 10 * MINUTE_MS;
          }
          for (const note of notes) {
            const isKnown = town.adn.known.has(note.chave_acesso);
            assert.deepEqual(await town.shown(note), isKnown ? AUTHORISED : REFUSED);
            assert.ok(isKnown || refused.has(note.chave_acesso));
          }
          assert.deepEqual(town.adn.sentTwice, []);
          const due = await town.world.store.listDue(town.clock.now, 1);
          assert.ok(
            due.every(
              ({ kind, tenant }) => ['mudancas', 'auditoria'].includes(kind) || tenant !== town.municipio.tenant,
            ),
          );
        },
      ),
      { numRuns: 15 },
    );
  });
});

describe('a clock that is set two hours ahead, and back', () => {
  test('leaves nothing waiting for two hours: not what was issued, nor what is tried again', async () => {
    const town = await Town.open();
    town.adn.mood = () => 'unknown';
    town.clock.now += 2 * HOUR_MS;
    const tried = await town.issue();
    await town.deliver();
    const fresh = await town.issue();
    town.clock.now -= 2 * HOUR_MS;
    town.adn.mood = () => 'accepts';
    assert.equal((await town.deliver()).delivered, 0);
    assert.equal(await shortenWaits(town.world), 2);
    assert.equal(await shortenWaits(town.world), 0);
    assert.equal((await town.deliver()).delivered, 2);
    for (const note of [tried, fresh]) assert.deepEqual(await town.shown(note), AUTHORISED);
  });

  test('leaves a claim to who has it, for a whole one from then on', async () => {
    const town = await Town.open();
    const { store } = town.world;
    const { tenant } = town.municipio;
    town.clock.now += 2 * HOUR_MS;
    const note = await town.issue();
    const claim = await store.notas.claim(tenant, town.clock.now, town.clock.now + MINUTE_MS, 10);
    town.clock.now -= 2 * HOUR_MS;
    assert.equal(await shortenWaits(town.world), 1);
    assert.equal(await town.dueIn(note), MINUTE_MS);
    assert.deepEqual((await store.notas.claim(tenant, town.clock.now, town.clock.now + MINUTE_MS, 10)).notas, []);
    const settlement = {
      id: claim.notas[0]!.id,
      mes: claim.notas[0]!.mes,
      move: notaMove('transmitida', 'autorizacao')!,
      mensagem: undefined,
      dueAt: undefined,
    };
    assert.equal(await store.notas.settle(tenant, claim.token, town.clock.now, [settlement]), 1);
  });

  test('a wait that is as long as it may be stays', async () => {
    const town = await Town.open();
    const old = await town.issue();
    town.adn.mood = () => 'too_early';
    await town.deliver();
    town.adn.mood = () => 'accepts';
    const waits = await town.dueIn(old);
    assert.equal(await shortenWaits(town.world), 0);
    assert.equal(await town.dueIn(old), waits);
  });
});

describe('the worker', () => {
  /** The limit allows for a slow machine; a successful run takes a second or two. */
  const PATIENT = { timeout: 300_000 };
  const eventually = (what: string, holds: () => Promise<boolean>): Promise<true> =>
    until(async () => (await holds()) || undefined, what);

  const at = (town: Town, tenant: string): Municipio => ({ ...town.municipio, tenant });

  test('goes on after the trouble of one tenant, and comes back to it', PATIENT, async () => {
    const town = await Town.alone('alfa', 'beta', 'gama');
    town.adn.mood = (_chave, tenant) => (tenant === 'alfa' ? 'breaks' : 'accepts');
    const troubled = await town.issue(undefined, at(town, 'alfa'));
    const others = [await town.issue(undefined, at(town, 'beta')), await town.issue(undefined, at(town, 'gama'))];
    const worker = startWorker(town.world);
    onEnd(() => worker.stop());
    const statusOf = async (note: IssuedNota, tenant: string): Promise<string | undefined> =>
      (await notaByChave(town.world, at(town, tenant), note.chave_acesso))?.nota.status;
    for (const [place, tenant] of ['beta', 'gama'].entries()) {
      await eventually(`the note of ${tenant} is delivered`, async () => {
        return (await statusOf(others[place]!, tenant)) === 'autorizada';
      });
    }
    assert.equal(await statusOf(troubled, 'alfa'), 'rascunho');
    const isTold = async (): Promise<boolean> =>
      town.logged.some(({ level, about }) => level === 'error' && 'tenant' in about && about.tenant === 'alfa');
    await eventually('the trouble is told', isTold);

    town.adn.mood = () => 'accepts';
    town.clock.now += 10 * MINUTE_MS;
    worker.wake();
    await eventually('the troubled note is delivered', async () => (await statusOf(troubled, 'alfa')) === 'autorizada');
    await worker.stop();
  });

  test('goes on after the database was away', PATIENT, async () => {
    const town = await Town.alone('alfa');
    let failures = 2;
    const store = {
      ...town.world.store,
      listDue: async (...asked: Parameters<ListDue>): ReturnType<ListDue> => {
        failures -= 1;
        if (failures >= 0) throw new Error('the database is away');
        return town.world.store.listDue(...asked);
      },
    };
    const note = await town.issue();
    const worker = startWorker({ ...town.world, store });
    onEnd(() => worker.stop());
    await eventually('the note is delivered', async () => (await town.shown(note))[0] === 'autorizada');
    assert.equal(town.logged.filter(({ level }) => level === 'error').length, 2);
    await worker.stop();
  });

  test('finds by itself what nobody woke it for, and stops when it is told', PATIENT, async () => {
    const town = await Town.alone('alfa');
    const store = { ...town.world.store };
    const looks = countCalls(store, 'listDue');
    const worker = startWorker({ ...town.world, store });
    await looks(1);
    const note = await town.issue();
    await eventually('the note is delivered', async () => (await town.shown(note))[0] === 'autorizada');
    await worker.stop();
    const late = await town.issue();
    // The worker looked each second: a slow machine only gives it more time.
    await assertStays(async () => isDeepStrictEqual(await town.shown(late), DRAFT), 1_500, 'a draft');
  });
});
