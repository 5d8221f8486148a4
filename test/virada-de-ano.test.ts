/**
 * The turn of the year of a municipality without a published CBS. Notes of 2026 are sent, and notes of 2027 are held. Another process
 * imports the rate, and all are authorised. The test controls the clock; the database, the ADN simulator and the mutual TLS to it are real.
 */

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Db } from '../src/base/pg/open.ts';
import { SALAS } from '../src/base/world/lugares.ts';
import { companyCertificate, pemOf, rootAuthority } from '../src/documents/pki.ts';
import { dpsIdOf } from '../src/fiscal/chave.ts';
import { exampleJson, exampleXml } from '../src/fiscal/rules/example.ts';
import type { Patch } from '../src/fiscal/rules/rule.ts';
import { Transmissions } from '../src/wiring/adn-access.ts';
import { atOnce } from './support/at-once.ts';
import { onEnd } from './support/cleanup.ts';
import { nfseHere } from './support/cli.ts';
import { databaseUrlOf, freshDatabase } from './support/database.ts';
import { tenantsDue } from './support/due.ts';
import { type Answer, emit, request } from './support/http.ts';
import { readyKeys } from './support/keys.ts';
import { addPrestador } from './support/municipio.ts';
import { freshFolder } from './support/openssl.ts';
import { nfse } from './support/process.ts';
import { startTestService, type TestService } from './support/service.ts';
import { companyOf, DECADES, type Party, PROVIDER_CNPJ, partyOf, signedBy } from './support/signatures.ts';
import { controle, montarPalco, type Palco, simuladorAqui } from './support/simulador.ts';
import { until } from './support/until.ts';

const SLUG = 'sao-paulo';
const IBGE = '3550308';
const EVE = Date.parse('2026-12-31T23:50:00-03:00');
const NEW_YEAR = Date.parse('2027-01-01T00:00:05-03:00');
const OLD_NOTES = 20;
const HELD_NOTES = 300;

const folder = freshFolder();
const HEAD = 'tributo,inicio,fim,aliquota,fonte,ato';
const CBS_2027 = 'CBS,2027-01-01,2027-12-31,"8,80",DOU de 05/01/2027,Resolução do Senado 1/2027';

function csv(name: string, ...lines: readonly string[]): string {
  const file = path.join(folder, name);
  writeFileSync(file, `${[HEAD, ...lines].join('\n')}\n`);
  return file;
}

async function signer(): Promise<{ provider: Party; ancoras: string }> {
  const [rootKeys, keys] = await Promise.all([readyKeys(), readyKeys()]);
  const root = rootAuthority('AC Raiz de Teste', rootKeys, DECADES);
  const provider = partyOf(keys, companyCertificate(root, companyOf(PROVIDER_CNPJ), keys.publicKey, DECADES));
  writeFileSync(path.join(folder, 'raiz.pem'), pemOf('CERTIFICATE', root.certificate));
  return { provider, ancoras: folder };
}

async function openTown({ store, pool, clock }: TestService, palco: Palco, url: string, ancoras: string) {
  const { certFile, keyFile } = palco.municipio;
  const chaves = { certificado: certFile, chave: keyFile };
  const municipio = { tenant: SLUG, ambiente: 'producao', codigoIbge: IBGE } as const;
  await store.municipios.create(
    { ...municipio, confianca: { ancoras, revogados: undefined }, adn: { url, ca: palco.caFile, chaves } },
    clock.now,
  );
  await addPrestador(pool, SLUG, PROVIDER_CNPJ, { im: '12345' });
}

let last = 0;

function dps(patch: Patch): string {
  last += 1;
  const [serie, nDPS] = ['7', String(last)];
  const id = dpsIdOf({ cLocEmi: IBGE, documento: PROVIDER_CNPJ, serie, nDPS });
  return exampleXml({ tpAmb: '1', serie, nDPS, '@Id': id, ...patch });
}

function post(address: string, xml: string): Promise<Answer> {
  return request(address, `/${SLUG}/api/v1/nfse/v101`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/xml' },
    body: xml,
  });
}

const look = (address: string, chave: string, slug = SLUG): Promise<Answer> =>
  request(address, `/${slug}/api/v1/nfse/${chave}`);

async function countIn(pool: Db, estado: string): Promise<number> {
  const text = 'select count(*)::int as count from notas where estado = $1';
  return (await pool.query<{ count: number }>(text, [estado])).rows[0]!.count;
}

async function untilCount(pool: Db, estado: string, wanted: number): Promise<void> {
  await until(async () => (await countIn(pool, estado)) === wanted || undefined, `${wanted} notes ${estado}`);
}

/** Waits for the sums of January; those of all months are then those of their notes. */
async function untilSums(
  { store, clock }: TestService,
  wanted: Readonly<Record<'notas', number> & Record<'servicos' | 'ibs' | 'cbs', bigint>>,
): Promise<void> {
  const sum = async (): Promise<typeof wanted | undefined> => {
    await store.mudancas.append(SLUG, clock.now);
    while (await store.contagemDaReceita.countDue(clock.now, SALAS.receita, 0));
    const mes = { visao: 'competencia', primeiro: 202701, ultimo: 202701 } as const;
    const [soma] = await store.somas.list(SLUG, ['regime'], mes);
    return soma && { notas: soma.notas, servicos: soma.servicos, ibs: soma.ibs, cbs: soma.cbs };
  };
  await until(async () => isDeepStrictEqual(await sum(), wanted) || undefined, JSON.stringify(wanted, nameBigint));
  const proved = await store.contagemDaReceita.prove(SLUG, clock.now, false);
  assert.deepEqual(
    proved.filter(({ diferentes }) => diferentes > 0),
    [],
  );
}

const nameBigint = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);

/** Documents that the environment holds, by key, as text. */
async function heldBy(simulador: { readonly controle: string }): Promise<ReadonlyMap<string, string>> {
  const held = new Map<string, string>();
  for (let after = 0; ; ) {
    const { body } = await controle(simulador, `/documentos?depois=${after}&limite=500`);
    if (body.documentos.length === 0) return held;
    for (const { chave, nsu } of body.documentos as { chave: string; nsu: number }[]) {
      after = Math.max(after, nsu);
      held.set(chave, (await controle(simulador, `/documentos/${chave}`)).text);
    }
  }
}

const withoutGroup = (nfse: string): string => {
  const at = nfse.indexOf('<DPS');
  return nfse.slice(0, at).replace(/<IBSCBS>.*<\/IBSCBS>$/s, '') + nfse.slice(at);
};

describe('the turn of the year without a CBS', () => {
  test(`${OLD_NOTES} notes of 2026 go, ${HELD_NOTES} of 2027 are held, the rate is imported, all are authorised`, async () => {
    const [palco, { provider, ancoras }, connection] = await Promise.all([montarPalco(), signer(), freshDatabase()]);
    const simulador = await simuladorAqui(palco);
    const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
    const transmissions = new Transmissions(quiet);
    onEnd(() => transmissions.close());
    const clock = { now: EVE };
    const first = await startTestService({ connection, clock, transmission: transmissions.of });
    const { address, pool } = first;
    await openTown(first, palco, simulador.address, ancoras);

    const old = Array.from({ length: OLD_NOTES }, () => signedBy(dps({ dCompet: '2026-12-31' }), provider));
    await atOnce(old, async (xml) => assert.equal((await post(address, xml)).status, 201));
    await untilCount(pool, 'autorizada', OLD_NOTES);

    clock.now = NEW_YEAR;
    const answered = new Map<string, Answer>();
    const news = Array.from({ length: HELD_NOTES }, () => signedBy(dps({ dCompet: '2027-01-01' }), provider));
    await atOnce(news, async (xml) => {
      const answer = await post(address, xml);
      assert.equal(answer.status, 201, JSON.stringify(answer.body));
      answered.set(answer.body.chave_acesso, answer);
    });
    assert.equal(answered.size, HELD_NOTES);
    const [chave, { body: issued }] = [...answered][0]!;
    assert.match(
      issued.avisos[0].mensagem,
      /^Retida: nenhuma alíquota de CBS está publicada para a competência 01\/01\/2027/,
    );
    assert.equal(issued.avisos[0].codigo, 'E1515');
    await readable(first, chave, issued);

    // The worker looks repeatedly, and sends nothing.
    const looks = await controle(simulador, '/estado');
    await first.stopWorker();
    assert.equal(await countIn(pool, 'retida'), HELD_NOTES);
    // 300 notes of 1000.00, whose IBS and CBS nobody knows yet.
    await untilSums(first, { notas: HELD_NOTES, servicos: 300_000_00n, ibs: 0n, cbs: 0n });
    assert.equal(looks.body.contagens?.erros?.E1515, undefined);
    assert.equal((await heldBy(simulador)).size, OLD_NOTES, 'nothing of 2027 was sent');

    // The service is stopped meanwhile; a separate process imports the rate.
    const said = await nfse(['aliquotas', 'importar', csv('cbs.csv', CBS_2027)], {
      DATABASE_URL: databaseUrlOf(connection),
    });
    assert.equal(said.code, 0, said.err);
    assert.match(said.out, /Tabela de alíquotas 2: novas 1/);
    assert.equal(await countIn(pool, 'retida'), HELD_NOTES);

    const second = await startTestService({ connection, clock, transmission: transmissions.of });
    await untilCount(pool, 'autorizada', OLD_NOTES + HELD_NOTES);
    assert.equal(await countIn(pool, 'retida'), 0);
    const batches = second.logged.filter(({ message }) => message.startsWith('notas retidas foram vistas'));
    assert.ok(batches.length <= 3, `${batches.length} batches for ${HELD_NOTES} notes`);

    const held = await heldBy(simulador);
    assert.equal(held.size, OLD_NOTES + HELD_NOTES);
    for (const [one, { body }] of answered) {
      const nfseHeld = held.get(one)!;
      // 980.00 × 8.80 % = 86.24; IBS 0.05 + 0.05 % of 980.00 = 0.49 each; 1000.00 + 86.24 + 0.98
      assert.match(
        nfseHeld.slice(0, nfseHeld.indexOf('<DPS')),
        /<IBSCBS><cLocalidadeIncid>3550308<.*<pIBSUF>0\.05<.*<pCBS>8\.80<.*<vTotNF>1087\.22<.*<vIBSUF>0\.49<.*<vCBS>86\.24</,
      );
      const own = nfseHeld.replace(/<Signature.*<\/Signature>/s, '');
      assert.equal(withoutGroup(own), body.xml_nfse, 'all but the group is as it was answered');
    }
    const after = await look(second.address, chave);
    assert.deepEqual(
      [
        after.body.nota.status,
        after.body.protocolo.status,
        after.body.protocolo.acao_sugerida,
        after.headers.get('retry-after'),
      ],
      ['autorizada', 'autorizado', null, null],
    );
    assert.equal(after.body.protocolo.mensagem_retorno, null);
    assert.equal(after.body.nota.xml_nota, held.get(chave));
    const shown = await nfseHere(['nota', 'mostrar', chave, '--municipio', SLUG], pool);
    assert.match(shown.out, /tabela_aliquotas +2\n/);
    assert.match(
      shown.out,
      /retida \(retencao\): Retida: nenhuma alíquota de CBS.*\n.*retida → emitida \(publicacao\)\n.*emitida → transmitida \(anuncio\)/,
    );
    // 300 × 0.98 and 300 × 86.24
    await untilSums(second, { notas: HELD_NOTES, servicos: 300_000_00n, ibs: 294_00n, cbs: 25_872_00n });
    // Nothing is left for a third look.
    assert.deepEqual(await tenantsDue(second.store, 'retidas', clock.now, 2), []);
  });
});

/** An integrator's and an operator's view of a held note. */
async function readable({ address, pool }: TestService, chave: string, issued: Answer['body']): Promise<void> {
  const found = await look(address, chave);
  assert.deepEqual([found.status, found.headers.get('retry-after')], [200, '3600']);
  const { nota, protocolo } = found.body;
  assert.deepEqual([nota.status, nota.numero, nota.numero_dps_nacional], ['rascunho', null, null]);
  assert.deepEqual([protocolo.status, protocolo.acao_sugerida], ['processando', 'aguardar']);
  assert.equal(protocolo.mensagem_retorno, issued.avisos[0].mensagem);
  const byProtocol = await request(address, `/${SLUG}/api/v1/nfse/protocolo/${issued.numero_protocolo}`);
  assert.equal(byProtocol.body.chave_acesso_provisoria, true);
  const danfse = await request(address, `/${SLUG}/api/v1/danfse/${chave}`);
  assert.deepEqual([danfse.status, danfse.headers.get('retry-after')], [422, '3600']);
  assert.match(danfse.body.mensagem, /ainda não foi enviada ao ADN .* Retida: nenhuma alíquota de CBS/);
  const shown = await nfseHere(['municipio', 'mostrar', SLUG], pool);
  assert.match(
    shown.out,
    /retidas +300 notas, desde 01\/01\/2027 00:00:05; esperam uma alíquota, e não são enviadas\n/,
  );
  assert.match(shown.out, /300: Retida: nenhuma alíquota de CBS está publicada/);
  assert.match(shown.out, /à espera +nenhuma nota/);
}

describe('in the sandbox', () => {
  const json = (body: string, address: string): Promise<Answer> =>
    request(address, '/integracao/api/v1/nfse/v101', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
    });

  test('an event on a held note waits, and is sent after it; what was declared is compared in the end', async () => {
    const clock = { now: NEW_YEAR };
    const { address, pool } = await startTestService({ clock });
    const dry = await request(address, '/integracao/api/v1/nfse/v101/validacao', {
      method: 'POST',
      headers: { 'Content-Type': 'application/xml' },
      body: exampleXml({ dCompet: '2027-01-01' }),
    });
    assert.match(
      dry.body.avisos[0].mensagem,
      /^Nada foi emitido; emitida agora, a nota ficaria assim: "Retida: nenhuma/,
    );
    const held = await emit(address, exampleXml({ dCompet: '2027-01-01' }));
    assert.equal(held.status, 201, JSON.stringify(held.body));
    const chave: string = held.body.chave_acesso;
    const cancelled = await request(address, `/integracao/api/v1/nfse/${chave}/eventos`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        tipo_evento: 'cancelamento',
        codigo_motivo_cancelamento: '1',
        descricao_motivo_cancelamento: 'Valor do serviço com erro na emissão',
      }),
    });
    assert.equal(cancelled.status, 201, JSON.stringify(cancelled.body));
    const right = await json(exampleJson({ dCompet: '2027-01-01', '=ibscbs.total_cbs': '86.24' })!, address);
    const wrong = await json(
      exampleJson({ dCompet: '2027-01-01', '=ibscbs.total_cbs': '84.00', '=ibscbs.valores_aliquota_cbs': '8.57' })!,
      address,
    );
    assert.deepEqual([right.status, wrong.status], [201, 201], JSON.stringify([right.body, wrong.body]));
    assert.match(wrong.body.avisos.at(-1).mensagem, /total_cbs.*ainda não foram comparados/);
    const early = await json(
      exampleJson({ dCompet: '2027-01-01', '=ibscbs.valores_base_calculo': '1000.00' })!,
      address,
    );
    assert.deepEqual([early.status, early.body.codigo_erro], [422, 'E1530'], 'the base hangs on no rate');
    // Notes that depend on no rate are sent as usual.
    const exempt = await emit(
      address,
      exampleXml({
        dCompet: '2027-01-01',
        'IBSCBS/valores/trib/gIBSCBS/CST': '410',
        'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '410004',
      }),
    );
    await untilCount(pool, 'autorizada', 1);
    assert.equal((await look(address, exempt.body.chave_acesso, 'integracao')).body.nota.status, 'autorizada');
    const waits = await until(async () => {
      const { body } = await request(address, `/integracao/api/v1/nfse/${chave}/eventos`);
      return body.eventos[0].status_evento === 'aguardando_autorizacao_nota' ? body.eventos[0] : undefined;
    }, 'the event waits');
    assert.equal(waits.acao_sugerida, 'aguardar');

    const said = await nfseHere(
      ['aliquotas', 'importar', csv('ensaio.csv', CBS_2027)],
      pool,
      false,
      undefined,
      () => clock.now,
    );
    assert.equal(said.code, 0, said.err);
    await untilCount(pool, 'retida', 0);
    await untilCount(pool, 'cancelada', 1);
    await untilCount(pool, 'autorizada', 2);
    const refused = await look(address, wrong.body.chave_acesso, 'integracao');
    assert.deepEqual(
      [refused.body.nota.status, refused.body.protocolo.status, refused.body.protocolo.acao_sugerida],
      ['rascunho', 'rejeitado', null],
    );
    assert.match(
      refused.body.protocolo.mensagem_retorno,
      /E1558: .*declara 8\.57 %, e o calculado é 8\.80 %.* \| E1582: .*declara 84\.00, e o calculado é 86\.24/,
    );
    assert.equal(refused.headers.get('retry-after'), null);
    const trail = await nfseHere(['nota', 'mostrar', wrong.body.chave_acesso, '--municipio', 'integracao'], pool);
    assert.match(trail.out, /retida → recusada \(divergencia\)/);
    assert.equal((await look(address, right.body.chave_acesso, 'integracao')).body.nota.status, 'autorizada');
    assert.equal((await look(address, chave, 'integracao')).body.nota.status, 'cancelada');
  });

  test('an import that does not bring what is missing leaves the note held, and is not tried twice', async () => {
    const clock = { now: NEW_YEAR };
    const { address, pool, store, logged } = await startTestService({ clock });
    const locacao: Patch = {
      dCompet: '2027-01-01',
      'IBSCBS/valores/trib/gIBSCBS/CST': '221',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': '221001',
    };
    const held = await emit(address, exampleXml(locacao));
    assert.equal(held.status, 201, JSON.stringify(held.body));
    const text = async (): Promise<string> =>
      (await look(address, held.body.chave_acesso, 'integracao')).body.protocolo.mensagem_retorno;
    assert.match(await text(), /nenhuma alíquota de IBS-UF, própria do cClassTrib 221001, está publicada/);
    const importar = (...lines: readonly string[]) => {
      const file = path.join(folder, 'proprias.csv');
      writeFileSync(file, `${['tributo,cclasstrib,inicio,fim,aliquota,fonte,ato', ...lines].join('\n')}\n`);
      return nfseHere(['aliquotas', 'importar', file], pool, false, undefined, () => clock.now);
    };
    assert.equal((await importar('IBS-UF,221001,2027-01-01,,0.1,fonte,ato')).code, 0);
    await until(async () => /de IBS-MUN, própria/.test(await text()) || undefined, 'the next reason');
    assert.deepEqual(await tenantsDue(store, 'retidas', clock.now, 2), []);
    const looks = (): number => logged.filter(({ message }) => message.startsWith('notas retidas')).length;
    assert.equal(looks(), 1);
    const rest = await importar('IBS-MUN,221001,2027-01-01,,0.1,fonte,ato', 'CBS,221001,2027-01-01,,3.285,fonte,ato');
    assert.equal(rest.code, 0, rest.err);
    await untilCount(pool, 'autorizada', 1);
    assert.equal(looks(), 2);
  });

  test('whatever a note waits for is imported, and it goes: a purchase of a government, and presumed credits', async () => {
    const clock = { now: NEW_YEAR };
    const { address, pool, store } = await startTestService({ clock });
    const importar = async (...lines: readonly string[]): Promise<void> => {
      const said = await nfseHere(
        ['aliquotas', 'importar', csv('percentuais.csv', ...lines)],
        pool,
        false,
        undefined,
        () => clock.now,
      );
      assert.equal(said.code, 0, said.err);
    };
    await importar(
      CBS_2027,
      'REDUTOR-COMPRA-GOV,2026-01-01,2026-12-31,0,fonte,ato',
      'TRANSFERENCIA-CBS-GOV,2026-01-01,2026-12-31,0,fonte,ato',
    );
    const emitted = async (patch: Patch): Promise<string> => {
      const { status, body } = await emit(address, exampleXml({ dCompet: '2027-01-01', ...patch }));
      assert.equal(status, 201, JSON.stringify(body));
      return body.chave_acesso;
    };
    const credit = (cClassTrib: string, cCredPres: string): Patch => ({
      'IBSCBS/valores/trib/gIBSCBS/CST': '410',
      'IBSCBS/valores/trib/gIBSCBS/cClassTrib': cClassTrib,
      'IBSCBS/valores/trib/gIBSCBS/cCredPres': cCredPres,
    });
    const town = await emitted({ 'IBSCBS/tpEnteGov': '4', 'IBSCBS/tpOper': '5' });
    const rural = await emitted(credit('410014', '01'));
    const carrier = await emitted(credit('410015', '02'));
    const saidOf = async (chave: string): Promise<string> =>
      (await look(address, chave, 'integracao')).body.protocolo.mensagem_retorno;
    const waitsFor = (chave: string, what: RegExp): Promise<unknown> =>
      until(async () => what.test(await saidOf(chave)) || undefined, `the note waits for ${what.source}`);
    await waitsFor(
      town,
      /^Retida: o redutor das compras governamentais \(REDUTOR-COMPRA-GOV\) não está na tabela de alíquotas para a competência 01\/01\/2027, .* Ela segue sozinha, .* quando o percentual for publicado e importado aqui\./,
    );
    await waitsFor(rural, /crédito presumido 01 no IBS \(CRED-PRES-01-IBS\)/);
    await waitsFor(carrier, /crédito presumido 02 no IBS \(CRED-PRES-02-IBS\)/);
    await importar(
      'REDUTOR-COMPRA-GOV,2027-01-01,,50,fonte,ato',
      'CRED-PRES-01-IBS,2027-01-01,2027-12-31,"0,12",fonte,ato',
      'CRED-PRES-02-IBS,2027-01-01,2027-12-31,3,fonte,ato',
    );
    await waitsFor(town, /o percentual da CBS que passa ao ente que compra \(TRANSFERENCIA-CBS-GOV\)/);
    await waitsFor(rural, /crédito presumido 01 na CBS \(CRED-PRES-01-CBS\)/);
    await waitsFor(carrier, /crédito presumido 02 na CBS \(CRED-PRES-02-CBS\)/);
    await importar(
      'TRANSFERENCIA-CBS-GOV,2027-01-01,2028-12-31,0,fonte,ato',
      'CRED-PRES-01-CBS,2027-01-01,2027-12-31,"7,5",fonte,ato',
      'CRED-PRES-02-CBS,2027-01-01,2027-12-31,4,fonte,ato',
    );
    await untilCount(pool, 'autorizada', 3);
    const groupOf = async (chave: string): Promise<string> =>
      /<IBSCBS>.*?<\/IBSCBS>/s.exec((await store.notas.findByChave('integracao', chave))!.nfse)![0];
    // Base 980.00; half of 0.05, 0.05 and 8.80 %: 0.245, 0.245 and 43.12. All of the IBS belongs to the municipality that buys.
    const bought = await groupOf(town);
    assert.match(bought, /<pRedutor>50\.00<\/pRedutor>/);
    assert.match(bought, /<gIBSMunTot><vIBSMun>0\.49<\/vIBSMun><\/gIBSMunTot>/);
    assert.match(bought, /<vIBSUF>0\.00<\/vIBSUF>.*<vCBS>43\.12<\/vCBS>/s);
    assert.match(bought, /<gTribCompraGov>.*<vIBSUF>0\.24<\/vIBSUF>.*<vCBS>43\.12<\/vCBS><\/gTribCompraGov>/s);
    // 0.12 % and 7.50 % of the base of 980.00; 3 % and 4 %
    const credits = (ibs: string, vIbs: string, cbs: string, vCbs: string): RegExp =>
      new RegExp(
        `<gIBSCredPres><pCredPresIBS>${ibs}</pCredPresIBS><vCredPresIBS>${vIbs}</vCredPresIBS></gIBSCredPres>.*` +
          `<gCBSCredPres><pCredPresCBS>${cbs}</pCredPresCBS><vCredPresCBS>${vCbs}</vCredPresCBS></gCBSCredPres>`,
        's',
      );
    assert.match(await groupOf(rural), credits('0.12', '1.18', '7.50', '73.50'));
    assert.match(await groupOf(carrier), credits('3.00', '29.40', '4.00', '39.20'));
  });
});
