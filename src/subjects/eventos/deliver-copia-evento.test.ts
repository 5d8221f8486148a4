/**
 * The ADN's copy of an event whose answer was lost: ours, also under a renewed certificate, or another document under its identifier. Only
 * ours counts as registered. Another document is set aside for a person, and nothing is sent again.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { read } from '../../../test/support/chains.ts';
import { freshPool } from '../../../test/support/database.ts';
import { asSandbox } from '../../../test/support/municipio.ts';
import { noAvisos } from '../../../test/support/no-avisos.ts';
import { NOON } from '../../../test/support/service.ts';
import { type Party, testParties } from '../../../test/support/signatures.ts';
import { nobodyTrusted } from '../../../test/support/trust.ts';
import type { Adn, AdnAnswer, AdnKnowledge } from '../../adn/adn.ts';
import type { Municipio } from '../../base/book/municipios.ts';
import type { World } from '../../base/world/world.ts';
import type { Signer } from '../../documents/signing.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { exemploDe, tipoBySlug } from '../../fiscal/tipos-evento.ts';
import { createStore } from '../../wiring/store.ts';
import { deliverNotas } from '../notas/deliver.job.ts';
import { issueNota } from '../notas/issue.ts';
import { deliverEventos } from './deliver.job.ts';
import { registerEvento } from './register.ts';

const LOST: AdnAnswer = { kind: 'unknown', why: 'conexão interrompida' };

const pool = await freshPool();
const { provider, namesake } = await testParties(NOON);
const signerOf = (party: Party): Signer => ({ key: party.keys.privateKey, certificate: read(party) });

/** An ADN that takes everything, whose answers are lost, and that shows the copy of the test. */
class ShowingAdn {
  shown: Buffer | undefined;
  readonly sent: Buffer[] = [];

  readonly adn: Adn = {
    wantsDocuments: true,
    batchMax: 10,
    searchMax: 0,
    share: async (_tenant, all) => new Map(all.map(({ chave_acesso, xml }) => [chave_acesso, this.take(xml)])),
    find: async (_tenant, all) => new Map(all.map(({ chave_acesso }) => [chave_acesso, this.knowledge()])),
    shareEventos: async (_tenant, all) => new Map(all.map(({ id, xml }) => [id, this.take(xml)])),
    findEventos: async (_tenant, all) => new Map(all.map(({ id }) => [id, this.knowledge()])),
    pauseMs: () => 0,
  };

  private take(xml: Uint8Array | undefined): AdnAnswer {
    this.sent.push(Buffer.from(xml!));
    return LOST;
  }

  private knowledge(): AdnKnowledge {
    return { kind: 'known', nsu: '41', xml: this.shown };
  }
}

let opened = 0;

function freshName(): string {
  opened += 1;
  return `alfa${opened}`;
}

class Town {
  readonly adn = new ShowingAdn();
  readonly clock = { now: NOON };
  readonly errors: { about: object; message: string }[] = [];
  readonly municipio: Municipio = asSandbox(freshName());
  signer = signerOf(provider);
  chave = '';
  readonly world: World = {
    store: createStore(pool),
    transmission: async () => ({ adn: this.adn.adn, signer: this.signer }),
    trust: () => nobodyTrusted,
    now: () => this.clock.now,
    randomDigits: (count) => String(opened).padStart(count, '0'),
    log: {
      info: () => undefined,
      warn: () => undefined,
      error: (about, message) => void this.errors.push({ about, message }),
    },
    postAviso: noAvisos,
    wake: () => undefined,
  };

  /** A note that the ADN took, and whose answer was lost. */
  static async withLostNota(nDPS = '1'): Promise<Town> {
    const town = new Town();
    await town.world.store.municipios.create(town.municipio, NOON);
    const body = Buffer.from(exampleXml({ serie: '1', nDPS }));
    const issued = await issueNota(town.world, town.municipio, { kind: 'xml', body });
    assert.ok('chave_acesso' in issued, JSON.stringify(issued));
    town.chave = issued.chave_acesso;
    await deliverNotas(town.world, town.municipio);
    return town;
  }

  /** An event whose answer was lost, on an authorised note. */
  static async withLostEvento(): Promise<Town> {
    const town = await Town.withLostNota();
    [town.adn.shown] = town.adn.sent;
    await town.later(() => deliverNotas(town.world, town.municipio));
    assert.equal((await town.nota())?.estado, 'autorizada');
    const body = Buffer.from(JSON.stringify(exemploDe(tipoBySlug('cancelamento')!)));
    const sent = { kind: 'json', body, assinatura: undefined, simular: undefined } as const;
    const registered = await registerEvento(town.world, town.municipio, { chave: town.chave }, sent);
    assert.ok(typeof registered === 'object' && 'evento' in registered, JSON.stringify(registered));
    await deliverEventos(town.world, town.municipio);
    return town;
  }

  nota() {
    return this.world.store.notas.findByChave(this.municipio.tenant, this.chave);
  }

  async evento() {
    return (await this.world.store.eventos.listOf(this.municipio.tenant, this.chave))![0]!;
  }

  async later<Result>(work: () => Promise<Result>): Promise<Result> {
    this.clock.now += 61_000;
    return work();
  }
}

const OTHER_SIGNED = (await Town.withLostNota('2')).adn.sent[0]!;
/** Documents under our key that are not ours. */
const ANOTHER: Readonly<Record<string, (sent: Buffer) => Buffer>> = {
  'one that the municipality signed, with other contents': () => OTHER_SIGNED,
  'one whose contents were changed': (sent) =>
    Buffer.from(sent.toString('utf8').replace('11222333000181', '11222333000262')),
  'one whose signature does not hold': (sent) =>
    Buffer.from(sent.toString('utf8').replace(/<SignatureValue>..../, '<SignatureValue>AAAA')),
  'one without signature': (sent) => Buffer.from(sent.toString('utf8').replace(/<Signature .*<\/Signature>/s, '')),
  'one that is no XML': () => Buffer.from('{"nota":"outra"}'),
};

describe('an event that the ADN has', () => {
  test('as it was sent is registered, with the signature under which it was sent', async () => {
    const town = await Town.withLostEvento();
    town.adn.shown = town.adn.sent.at(-1);
    town.signer = signerOf(namesake);
    await town.later(() => deliverEventos(town.world, town.municipio));
    const { estado, id, nsu_recepcao } = await town.evento();
    assert.deepEqual([estado, nsu_recepcao], ['processado', '41']);
    const documents = await town.world.store.eventos.readDocuments(town.municipio.tenant, id);
    assert.deepEqual(documents?.certificado_der, provider.der);
    assert.equal(town.adn.sent.length, 2);
  });

  for (const [what, shown] of Object.entries(ANOTHER)) {
    test(`as another document (${what}) is put aside for a person, and not sent over it`, async () => {
      const town = await Town.withLostEvento();
      town.adn.shown = shown(town.adn.sent.at(-1)!);
      await town.later(() => deliverEventos(town.world, town.municipio));
      const { estado, id, mensagem_retorno } = await town.evento();
      assert.equal(estado, 'erro_reprocessamento');
      assert.equal(mensagem_retorno, 'O ADN guarda outro documento sob o identificador deste evento.');
      assert.equal(town.adn.sent.length, 2);
      const message = 'o ADN guarda outro documento sob o identificador de um evento';
      assert.deepEqual(town.errors, [{ about: { tenant: town.municipio.tenant, evento: id }, message }]);
      assert.equal((await town.nota())?.estado, 'autorizada', 'and the note stands');
    });
  }
});
