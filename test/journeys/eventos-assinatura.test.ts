/**
 * The signers of events in production: `openssl cms` signs the body with the certificate of the party that registers the event. Both
 * addresses are tested. A refused event leaves nothing, an accepted one is stored to the byte.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { buildChave, dpsIdOf, parseChave } from '../../src/fiscal/chave.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import type { Patch } from '../../src/fiscal/rules/rule.ts';
import { INTERMEDIARIO } from '../casos/caso.ts';
import { testAuthorities } from '../support/authorities.ts';
import { balcao, bancada, CANCELAMENTO, type NotaEmitida, type PATHS } from '../support/eventos.ts';
import { type Answer, request } from '../support/http.ts';
import { addPrestador } from '../support/municipio.ts';
import { openssl } from '../support/openssl.ts';
import { NOON, startTestService } from '../support/service.ts';
import { type Party, PROVIDER_CNPJ, signedBy } from '../support/signatures.ts';

const TENANT = 'sao-paulo';
const IBGE = '3550308';
const BRANCH_CNPJ = '11222333000262';
const OTHER_CNPJ = '11444777000161';
const TAKER_CPF = '52998224725';
const OTHER_CPF = '11144477735';
/** CNPJ of INTERMEDIARIO. */
const INTERMEDIARY_CNPJ = '00000000000191';
const INTERMEDIARY_BRANCH_CNPJ = '00000000000272';

const { folder, confianca, company, person, revoke, stranger, year, past, future } = await testAuthorities(NOON);
const provider = company(PROVIDER_CNPJ);
const branch = company(BRANCH_CNPJ);
const other = company(OTHER_CNPJ);
const revoked = company(PROVIDER_CNPJ);
const intermediary = company(INTERMEDIARY_CNPJ);
const taker = person(TAKER_CPF);
revoke(revoked);

const { address, world, store, pool, clock, logged } = await startTestService({ worker: false });
await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: IBGE, confianca }, clock.now);
await addPrestador(pool, TENANT, PROVIDER_CNPJ);
const { register, read, evento, nota: readNota } = balcao(address, TENANT);
const work = bancada(world, TENANT);

let last = 0;

/** An authorised note of the provider, for the taker of the example and with an intermediary. */
async function authorised(patch: Patch = {}): Promise<NotaEmitida> {
  last += 1;
  const [serie, nDPS] = ['1', String(last)];
  const id = dpsIdOf({ cLocEmi: IBGE, documento: PROVIDER_CNPJ, serie, nDPS });
  const xml = signedBy(exampleXml({ tpAmb: '1', ...INTERMEDIARIO, '@Id': id, serie, nDPS, ...patch }), provider);
  const headers = { 'Content-Type': 'application/xml' };
  const answer = await request(address, `/${TENANT}/api/v1/nfse/v101`, { method: 'POST', headers, body: xml });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  await work.notas();
  return answer.body;
}

const place = (name: string, content: string | Buffer): string => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

/** The output of `openssl cms` for the bytes, in Base64: detached, with the certificate inside, unless the options differ. */
function cms(body: string | Buffer, party: Party, ...options: readonly string[]): string {
  const files = ['-in', place('corpo', body), '-signer', place('pem', party.pem), '-inkey', place('key', party.keyPem)];
  return openssl('cms', '-sign', '-binary', ...files, '-md', 'sha256', ...options, '-outform', 'DER').toString(
    'base64',
  );
}

type How = { readonly path?: keyof typeof PATHS; readonly assinatura?: string | undefined };

/** Sends a body with a signature: that of the party over these bytes, or another one. */
function send(nota: NotaEmitida, body: string, party: Party | undefined, how: How = {}): Promise<Answer> {
  const assinatura = 'assinatura' in how ? how.assinatura : party && cms(body, party);
  const headers = assinatura === undefined ? {} : { 'X-Evento-Assinatura': assinatura };
  return register(nota, body, headers, how.path);
}

const json = (evento: object): string => JSON.stringify(evento, null, 2);

/** Refused with 401 and these codes; nothing is registered. */
async function assertRefused(sent: Promise<Answer>, codes: readonly string[], says?: RegExp): Promise<void> {
  const count = 'select count(*)::int as eventos from eventos';
  const before = (await pool.query(count)).rows[0].eventos;
  const { status, headers, body } = await sent;
  assert.equal(status, 401, JSON.stringify(body));
  assert.deepEqual(
    body.erros.map(({ codigo }: { codigo: string }) => codigo),
    codes,
    JSON.stringify(body),
  );
  assert.equal(body.codigo_erro, codes[0]);
  assert.match(body.erros[0].doc_url, new RegExp(`/docs/erros/${codes[0]}$`));
  assert.equal(headers.get('x-nfse-ambiente'), 'producao');
  if (says !== undefined) assert.match(body.mensagem, says);
  assert.equal((await pool.query(count)).rows[0].eventos, before, 'nothing is registered');
}

for (const path of ['chave', 'protocolo'] as const) {
  describe(`by ${path}`, () => {
    test('signed by the party: registered, and the body and its signature are kept to the byte', async () => {
      const nota = await authorised();
      const bodies = [
        json(CANCELAMENTO),
        `\ufeff${json({ tipo_evento: 'confirmacao_prestador' }).replaceAll('\n', '\r\n')}\r\n`,
        ' {"tipo_evento" : "rejeicao_prestador", "codigo_motivo_rejeicao": "\\u0039",\t"descricao_motivo_rejeicao":"Emissão & <engano>  da ação" } ',
      ];
      for (const body of bodies) {
        const assinatura = cms(body, provider);
        const answer = await send(nota, body, provider, { path, assinatura });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
        assert.deepEqual(answer.body.avisos, []);
        const kept = (await store.eventos.readDocuments(TENANT, String(answer.body.id_evento)))!;
        assert.deepEqual(kept.recebido, Buffer.from(body));
        assert.equal(kept.recebido_assinatura, assinatura);
        assert.match(kept.xml.toString(), new RegExp(`<tpAmb>1</tpAmb>.*<CNPJAutor>${PROVIDER_CNPJ}</CNPJAutor>`));
      }
    });

    test('E9002: request without signature', async () => {
      const nota = await authorised();
      await assertRefused(send(nota, json(CANCELAMENTO), undefined, { path }), ['E9002'], /X-Evento-Assinatura/);
      await assertRefused(send(nota, json(CANCELAMENTO), provider, { path, assinatura: '' }), ['E9002']);
      // The header of issuance has no effect on an event.
      const body = json(CANCELAMENTO);
      const headers = { 'X-DPS-Assinatura': cms(body, provider) };
      await assertRefused(register(nota, body, headers, path), ['E9002']);
    });

    test('E9003: signature invalid or not covering the exact body bytes', async () => {
      const nota = await authorised();
      const body = json(CANCELAMENTO);
      const assinatura = cms(body, provider);
      await assertRefused(send(nota, JSON.stringify(CANCELAMENTO), provider, { path, assinatura }), ['E9003']);
      await assertRefused(send(nota, `${body} `, provider, { path, assinatura }), ['E9003']);
      await assertRefused(send(nota, body.replace('"1"', '"2"'), provider, { path, assinatura }), ['E9003']);
      for (const broken of ['lixo', 'bm90aGluZw==', assinatura.slice(0, -40)]) {
        await assertRefused(send(nota, body, provider, { path, assinatura: broken }), ['E9003']);
      }
      const nocerts = cms(body, provider, '-nocerts');
      await assertRefused(send(nota, body, provider, { path, assinatura: nocerts }), ['E9003']);
    });

    test('E9003: an authority that nobody trusts, and a certificate that was revoked', async () => {
      const nota = await authorised();
      const body = json(CANCELAMENTO);
      await assertRefused(
        send(nota, body, company(PROVIDER_CNPJ, year, stranger), { path }),
        ['E9003'],
        /AC Raiz de Outros/,
      );
      await assertRefused(send(nota, body, revoked, { path }), ['E9003'], /revogado/);
    });

    test('E9006: certificate outside validity', async () => {
      const nota = await authorised();
      const body = json(CANCELAMENTO);
      await assertRefused(send(nota, body, company(PROVIDER_CNPJ, past), { path }), ['E9006'], /venceu em/);
      await assertRefused(send(nota, body, company(PROVIDER_CNPJ, future), { path }), ['E9006'], /só vale a partir/);
      const confirmacao = json({ tipo_evento: 'confirmacao_tomador' });
      await assertRefused(send(nota, confirmacao, person(TAKER_CPF, past), { path }), ['E9006']);
    });

    test('E9007: certificate of another than the expected party', async () => {
      const nota = await authorised();
      const cancelamento = json(CANCELAMENTO);
      const confirmacao = json({ tipo_evento: 'confirmacao_tomador' });
      const intermediacao = json({ tipo_evento: 'confirmacao_intermediario' });
      for (const party of [taker, intermediary, other, person(OTHER_CPF)]) {
        await assertRefused(send(nota, cancelamento, party, { path }), ['E9007'], /prestador/);
      }
      for (const party of [provider, intermediary, other, person(OTHER_CPF)]) {
        await assertRefused(send(nota, confirmacao, party, { path }), ['E9007'], /tomador/);
      }
      for (const party of [provider, taker, other]) {
        await assertRefused(send(nota, intermediacao, party, { path }), ['E9007'], /intermediário/);
      }
    });

    test('E9016: by-office events, signed by anybody or by nobody', async () => {
      const nota = await authorised();
      for (const tipo_evento of ['cancelamento_por_oficio', 'confirmacao_tacita', 'anulacao_rejeicao']) {
        const body = json({ tipo_evento });
        for (const party of [provider, other]) {
          await assertRefused(send(nota, body, party, { path }), ['E9016'], new RegExp(tipo_evento));
        }
        await assertRefused(send(nota, body, undefined, { path }), ['E9002', 'E9016']);
      }
    });

    test('a branch of the same root signs for the other, of whatever party', async () => {
      const nota = await authorised();
      const intermediaryBranch = company(INTERMEDIARY_BRANCH_CNPJ);
      for (const [tipo_evento, party] of [
        ['confirmacao_prestador', branch],
        ['confirmacao_intermediario', intermediaryBranch],
      ] as const) {
        const answer = await send(nota, json({ tipo_evento }), party, { path });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
      }
      const named = json({ ...CANCELAMENTO, cnpj_autor: BRANCH_CNPJ });
      const refused = await send(nota, named, branch, { path });
      assert.deepEqual([refused.status, refused.body.codigo_erro], [422, 'E0813']);
      assert.equal((await send(nota, json(CANCELAMENTO), branch, { path })).status, 201);
    });

    test('each party signs its own manifestation', async () => {
      const nota = await authorised();
      for (const [tipo_evento, party] of [
        ['confirmacao_prestador', provider],
        ['confirmacao_tomador', taker],
        ['confirmacao_intermediario', intermediary],
      ] as const) {
        const answer = await send(nota, json({ tipo_evento }), party, { path });
        assert.equal(answer.status, 201, JSON.stringify(answer.body));
      }
      await work.eventos();
      const { eventos } = (await read(nota)).body;
      assert.deepEqual(
        eventos.map(({ status_evento }: { status_evento: string }) => status_evento),
        ['processado', 'processado', 'processado'],
      );
    });
  });
}

test('E9003: a weaker digest, and a signature with the content inside', async () => {
  const nota = await authorised();
  const body = json(CANCELAMENTO);
  const weak = cms(body, provider, '-md', 'sha1');
  await assertRefused(send(nota, body, provider, { assinatura: weak }), ['E9003'], /SHA-1/);
  const attached = cms(body, provider, '-nodetach');
  await assertRefused(send(nota, body, provider, { assinatura: attached }), ['E9003'], /destacada/);
});

test('whether a note exists is told to no one who does not sign', async () => {
  const nota = await authorised();
  const body = json(CANCELAMENTO);
  const chave_acesso = buildChave({ ...parseChave(nota.chave_acesso)!, nNFSe: 999_999 });
  const unknown = { ...nota, chave_acesso };
  await assertRefused(send(unknown, body, undefined), ['E9002']);
  const { status, body: told } = await send(unknown, body, provider);
  assert.deepEqual([status, told.codigo_erro, told.campo], [404, 'E301', 'chave_acesso']);
});

test('a certificate is judged at the moment at which the event arrives', async () => {
  const nota = await authorised();
  const body = json(CANCELAMENTO);
  const assinatura = cms(body, provider);
  clock.now = Math.ceil(year.fim / 1000) * 1000 + 1000;
  try {
    await assertRefused(send(nota, body, provider, { assinatura }), ['E9006'], /venceu em/);
  } finally {
    clock.now = NOON;
  }
  assert.equal((await send(nota, body, provider, { assinatura })).status, 201);
});

test('a provider that may no longer issue still cancels: the rules of issuance are not asked again', async () => {
  const nota = await authorised();
  const authorise = (autorizado: boolean) =>
    pool.query('update prestadores set autorizado = $3 where tenant = $1 and documento = $2', [
      TENANT,
      PROVIDER_CNPJ,
      autorizado,
    ]);
  await authorise(false);
  try {
    assert.equal((await send(nota, json(CANCELAMENTO), provider)).status, 201);
    await work.eventos();
    assert.equal((await evento(nota, 'cancelamento')).status_evento, 'processado');
    assert.equal((await readNota(nota)).body.nota.status, 'cancelada');
  } finally {
    await authorise(true);
  }
});

test('magic values of the sandbox mean nothing in production', async () => {
  const nota = await authorised();
  const body = json({ ...CANCELAMENTO, descricao_motivo_cancelamento: 'Pedido do cliente adn:rejeita=E1234' });
  const headers = { 'X-Evento-Assinatura': cms(body, provider), 'X-NFSe-Simular': 'adn:rejeita=E1234' };
  const answer = await register(nota, body, headers);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  await work.eventos();
  assert.equal((await evento(nota, 'cancelamento')).status_evento, 'processado');
});

test('a signed event is never refused for what its sender, or another at the same address, asked for in vain', async () => {
  const nota = await authorised();
  const chave_acesso = buildChave({ ...parseChave(nota.chave_acesso)!, nNFSe: 999_998 });
  const statuses: number[] = [];
  // Slow requests regain their allowance meanwhile, so only the end of the sequence is certain.
  while (statuses.at(-1) !== 429 && statuses.length < 1_000) {
    statuses.push((await request(address, `/${TENANT}/api/v1/nfse/${chave_acesso}`)).status);
  }
  assert.equal(statuses.at(-1), 429);
  const body = json(CANCELAMENTO);
  const lost = await Promise.all(Array.from({ length: 5 }, () => send({ ...nota, chave_acesso }, body, provider)));
  assert.deepEqual(
    lost.map(({ status }) => status),
    [404, 404, 404, 404, 404],
  );
  await assertRefused(send(nota, body, undefined), ['E9002']);
  assert.equal((await send(nota, body, provider)).status, 201);
});

test('no certificate, no document of anybody is logged', () => {
  const log = JSON.stringify(logged);
  for (const secret of [PROVIDER_CNPJ, OTHER_CNPJ, TAKER_CPF, INTERMEDIARY_CNPJ, provider.base64.slice(0, 40)]) {
    assert.ok(!log.includes(secret), secret);
  }
});
