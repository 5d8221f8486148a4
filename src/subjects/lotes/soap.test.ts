/**
 * The legacy port over HTTP with documents written by hand: the six operations in the sandbox, both SOAP versions, every form of the
 * document, atomic lots, and attacks.
 */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { before, describe, test } from 'node:test';
import { onEnd } from '../../../test/support/cleanup.ts';
import { storeCorrelacao } from '../../../test/support/correlacao.ts';
import { emit, request } from '../../../test/support/http.ts';
import {
  ABRASF,
  all,
  call,
  cancelamentoXml,
  consultaXml,
  envelope,
  escaped,
  first,
  IBSCBS,
  loteXml,
  PRESTADOR,
  porProtocolo,
  porRpsXml,
  post,
  sendLote,
} from '../../../test/support/rps.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { until } from '../../../test/support/until.ts';
import { MISSES_MAX } from '../../base/http/misses.ts';
import { xsdErrors } from '../../documents/xml.ts';
import { createRestDoor } from '../../doors/rest/door.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';
import { deliverEventos } from '../eventos/deliver.job.ts';
import { deliverNotas } from '../notas/deliver.job.ts';
import { LOTE_LEASE_MS, processLotes } from './lotes.job.ts';

const OTHER_CNPJ = '11444777000161';

/** Waits until a note is cancelled. */
async function cancelled(address: string, chave: string): Promise<void> {
  await until(async () => {
    const { body } = await request(address, `/integracao/api/v1/nfse/${chave}`);
    return body.nota.status === 'cancelada' ? true : undefined;
  }, 'the cancellation of a note');
}

describe('the six operations', () => {
  let service: TestService;
  let address: string;
  before(async () => {
    service = await startTestService();
    ({ address } = service);
  });

  test('a lot becomes notes that REST finds by their keys', async () => {
    // A new provider, with its first notes.
    const cnpj = OTHER_CNPJ;
    const xml = loteXml([{ numero: 1 }, { numero: '0002' }], { cnpj });
    const { situacao, documento } = await sendLote(address, xml, undefined, { cnpj });
    assert.equal(situacao, '4', documento);
    assert.match(documento, new RegExp(`^<ConsultarLoteRpsResposta xmlns="${ABRASF}"><ListaNfse>`));
    assert.deepEqual(all(documento, 'Numero').length > 2, true);
    const keys = [...documento.matchAll(/<InfNfse Id="NFS(\d{50})">/g)].map(([, chave]) => chave!);
    assert.equal(keys.length, 2);
    for (const [place, chave] of keys.entries()) {
      const { body } = await request(address, `/integracao/api/v1/nfse/${chave}`);
      assert.equal(body.nota.chave_acesso, chave);
      assert.equal(body.nota.serie_dps, '1');
      assert.equal(body.nota.valor_issqn, '20.00');
      assert.equal(body.nota.numero_dps, place + 1);
    }
    assert.equal(first(documento, 'ValorIss'), '20.00');
    assert.equal(first(documento, 'Aliquota'), '0.02');
    assert.equal(first(documento, 'BaseCalculo'), '1000.00');
    assert.equal(first(documento, 'ItemListaServico'), '01.01');
    assert.equal(first(documento, 'Cep'), '00000000');
  });

  test('a note is found by its RPS, by its number, by taker and by period', async () => {
    const { documento } = await sendLote(address, loteXml([{ numero: 11, serie: '2' }], { numero: '11' }));
    const numero = first(documento, 'Numero')!;
    const byRps = await call(address, 'ConsultarNfsePorRps', porRpsXml(11, '2'));
    assert.match(byRps.documento, /^<ConsultarNfseRpsResposta [^>]*><CompNfse><Nfse versao="1.00"><InfNfse /);
    const chave = /Id="NFS(\d{50})"/.exec(byRps.documento)![1]!;
    for (const filtro of [
      `<NumeroNfse>${numero}</NumeroNfse>`,
      `<NumeroNfse>2026${numero.padStart(11, '0')}</NumeroNfse>`,
      '<PeriodoEmissao><DataInicial>2026-11-21</DataInicial><DataFinal>2026-11-21</DataFinal></PeriodoEmissao>',
      '<Tomador><CpfCnpj><Cpf>52998224725</Cpf></CpfCnpj></Tomador>',
      '',
    ]) {
      const found = await call(address, 'ConsultarNfse', consultaXml(filtro));
      assert.match(found.documento, new RegExp(`Id="NFS${chave}"`), filtro);
    }
    const none = await call(
      address,
      'ConsultarNfse',
      consultaXml('<Tomador><CpfCnpj><Cpf>11144477735</Cpf></CpfCnpj></Tomador>'),
    );
    assert.match(none.documento, /<ListaNfse><\/ListaNfse>/);
    const other = await call(address, 'ConsultarNfsePorRps', porRpsXml(11, '2', '1', '04105382000129'));
    assert.equal(first(other.documento, 'Codigo'), 'E4');
  });

  test('a note is cancelled by its number through the machine of the events', async () => {
    const { documento } = await sendLote(address, loteXml([{ numero: 21, serie: '3' }], { numero: '21' }));
    const numero = first(documento, 'Numero')!;
    const chave = /Id="NFS(\d{50})"/.exec(documento)![1]!;
    const answer = await call(address, 'CancelarNfse', cancelamentoXml(numero, '2'));
    assert.match(
      answer.documento,
      /<Cancelamento versao="1.00"><Confirmacao Id="[^"]+"><Pedido><InfPedidoCancelamento xmlns="[^"]+" Id=/,
    );
    assert.equal(first(answer.documento, 'Sucesso'), 'true');
    assert.equal(first(answer.documento, 'CodigoCancelamento'), '2');
    await cancelled(address, chave);
    const eventos = await request(address, `/integracao/api/v1/nfse/${chave}/eventos`);
    assert.equal(eventos.body.eventos[0].tipo_evento, 'cancelamento');
    assert.equal(eventos.body.eventos[0].status_evento, 'processado');
    const shown = await call(address, 'ConsultarNfsePorRps', porRpsXml(21, '3'));
    assert.match(
      shown.documento,
      /<\/Nfse><NfseCancelamento versao="1.00"><Confirmacao Id="[^"]+"><Pedido><InfPedidoCancelamento>/,
    );
    assert.deepEqual(
      ['CodigoCancelamento', 'Sucesso', 'DataHora'].map((name) => first(shown.documento, name)),
      ['2', 'true', '2026-11-21T12:00:00'],
    );
    const again = await call(address, 'CancelarNfse', cancelamentoXml(numero));
    assert.equal(first(again.documento, 'Codigo'), 'E79');
    const unknown = await call(address, 'CancelarNfse', cancelamentoXml('999999'));
    assert.equal(first(unknown.documento, 'Codigo'), 'E78');
  });

  test('a cancellation keeps the code that was asked with; one of REST has its own where both mean the same', async () => {
    const { documento } = await sendLote(
      address,
      loteXml(
        ['1', '2', '3', '4'].map((numero) => ({ numero, serie: '6' })),
        { numero: '61' },
      ),
    );
    const chaves = [...documento.matchAll(/Id="NFS(\d{50})"/g)].map(([, chave]) => chave!);
    const byPort = async (chave: string, codigo: string) =>
      call(address, 'CancelarNfse', cancelamentoXml(String(Number(chave.slice(23, 36))), codigo));
    const byRest = (chave: string, motivo: string) =>
      request(address, `/integracao/api/v1/nfse/${chave}/eventos`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({
          tipo_evento: 'cancelamento',
          codigo_motivo_cancelamento: motivo,
          descricao_motivo_cancelamento: 'Serviço que não foi prestado',
        }),
      });
    await Promise.all([
      byPort(chaves[0]!, '4'),
      byPort(chaves[1]!, 'E12'),
      byRest(chaves[2]!, '2'),
      byRest(chaves[3]!, '9'),
    ]);
    for (const chave of chaves) await cancelled(address, chave);
    for (const [place, codigo] of ['4', 'E12', '2', '9'].entries()) {
      const shown = await call(address, 'ConsultarNfsePorRps', porRpsXml(place + 1, '6'));
      assert.equal(first(shown.documento, 'CodigoCancelamento'), codigo, shown.documento);
      assert.doesNotMatch(shown.documento, /NfseSubstituicao/);
    }
  });

  test('a note that came by REST is found and cancelled here as well', async () => {
    // A new provider, whose last note gives its municipality.
    const cnpj = '11222333000262';
    const issued = await emit(address, exampleXml({ 'prest/CNPJ': cnpj, cLocEmi: '3304557' }));
    assert.equal(issued.status, 201, JSON.stringify(issued.body));
    const chave: string = issued.body.chave_acesso;
    const numero = String(Number(chave.slice(23, 36)));
    assert.equal((await emit(address, exampleXml({ 'prest/CNPJ': cnpj, nDPS: '72' }))).status, 201);
    await sendLote(address, loteXml([{ numero: 71, serie: '71' }], { numero: '71', cnpj }), undefined, { cnpj });
    const found = await call(address, 'ConsultarNfse', consultaXml(`<NumeroNfse>${numero}</NumeroNfse>`, cnpj));
    assert.deepEqual(
      [...found.documento.matchAll(/Id="NFS(\d{50})"/g)].map(([, one]) => one),
      [chave],
    );
    assert.doesNotMatch(found.documento, /IdentificacaoRps/);
    const all = await call(address, 'ConsultarNfse', consultaXml('', cnpj));
    const numbers = [...all.documento.matchAll(/<InfNfse [^>]*><Numero>(\d+)</g)].map(([, one]) => Number(one));
    assert.ok(numbers.includes(Number(numero)));
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
      'in the order of their numbers, wherever they were issued',
    );
    const answer = await call(address, 'CancelarNfse', cancelamentoXml(numero, '1', cnpj, '3304557'));
    assert.equal(first(answer.documento, 'Sucesso'), 'true', answer.documento);
    await cancelled(address, chave);
  });

  test('a note is of the municipality of its provider, which the last note tells, wherever the service is provided', async () => {
    const cnpj = '11222333000343';
    const numbered = (rps: Omit<Parameters<typeof loteXml>[0][number], 'numero'>, numero: string) =>
      sendLote(address, loteXml([{ ...rps, numero: 1, serie: numero }], { numero, cnpj }), undefined, { cnpj });
    const outside = {
      natureza: '2',
      cMun: '3304557',
      item: '17.10',
      extensao: `<DadosDPS><cTribNac>171001</cTribNac></DadosDPS>${IBSCBS}`,
    } as const;
    const unknown = await numbered(outside, '81');
    assert.equal(unknown.situacao, '3');
    assert.match(
      unknown.documento,
      /<Codigo>E144<.*ainda não sabe qual é o município deste prestador.*<Correcao>Emita antes/,
    );
    assert.equal((await emit(address, exampleXml({ 'prest/CNPJ': cnpj }))).status, 201);
    const done = await numbered(outside, '82');
    assert.equal(done.situacao, '4', done.documento);
    assert.match(done.documento, /<InfNfse Id="NFS3550308/);
    assert.match(done.documento, /<OrgaoGerador><CodigoMunicipio>3550308<\/CodigoMunicipio>/);
    assert.equal(first(done.documento, 'NaturezaOperacao'), '2');
    // The case of production: declared as due outside, but due at the provider's place.
    const inside = await numbered({ natureza: '2', cMun: '3304557' }, '83');
    assert.equal(inside.situacao, '3');
    assert.match(inside.documento, /<Codigo>E144<.*em 3550308 \(São Paulo\/SP\), e NaturezaOperacao é 2/);
    const provided = await numbered({ cMun: '3304557' }, '84');
    assert.equal(provided.situacao, '4', provided.documento);
    assert.match(provided.documento, /<InfNfse Id="NFS3550308/);
  });

  test('a period is asked for by days, of the municipality where they are told as instants', async () => {
    const cnpj = '11222333000424';
    // The day of the test, 21/11/2026 at noon.
    await sendLote(address, loteXml([{ numero: 1, serie: '85' }], { numero: '85', cnpj }), undefined, { cnpj });
    const period = (de: string, ate: string): string =>
      `<PeriodoEmissao><DataInicial>${de}</DataInicial><DataFinal>${ate}</DataFinal></PeriodoEmissao>`;
    for (const [de, ate, notas] of [
      ['2026-11-21T00:00:00-03:00', '2026-11-21T23:59:59-03:00', 1],
      ['2026-11-21T03:00:00Z', '2026-11-22T02:59:59Z', 1],
      // 20/11 and 20/11.
      ['2026-11-21T02:00:00Z', '2026-11-21T02:30:00Z', 0],
      ['2026-11-21-03:00', '2026-11-21-03:00', 1],
    ] as const) {
      const { documento } = await call(address, 'ConsultarNfse', consultaXml(period(de, ate), cnpj));
      assert.equal(all(documento, 'OrgaoGerador').length, notas, `${de} ${ate} ${documento}`);
    }
    const wrong = await call(address, 'ConsultarNfse', consultaXml(period('2026-11-21 e algo', '2026-11-21'), cnpj));
    assert.equal(first(wrong.documento, 'Codigo'), 'E131');
  });

  test('what is not there is said in the codes of the model', async () => {
    const lote = await call(address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', '123'));
    assert.equal(first(lote.documento, 'Codigo'), 'E86');
    const period = (de: string, ate: string): string =>
      `<PeriodoEmissao><DataInicial>${de}</DataInicial><DataFinal>${ate}</DataFinal></PeriodoEmissao>`;
    for (const [filtro, codigo] of [
      [period('2026-11-01', '2026-11-22'), 'E133'],
      [period('2026-11-10', '2026-11-01'), 'E134'],
      [period('2025-01-01', '2026-11-01'), 'E135'],
      [period('2026-02-30', '2026-11-01'), 'E131'],
      ['<NumeroNfse>12a</NumeroNfse>', 'E136'],
    ] as const) {
      const answer = await call(address, 'ConsultarNfse', consultaXml(filtro));
      assert.equal(first(answer.documento, 'Codigo'), codigo, filtro);
    }
    const strange = await call(address, 'ConsultarNfse', '<Outra/>');
    assert.equal(first(strange.documento, 'Codigo'), 'E160');
  });

  test('a replaced RPS is named by its key in the new note', async () => {
    await sendLote(address, loteXml([{ numero: 31, serie: '4' }], { numero: '31' }));
    const old = /Id="NFS(\d{50})"/.exec(
      (await call(address, 'ConsultarNfsePorRps', porRpsXml(31, '4'))).documento,
    )![1]!;
    const substituido = { numero: '31', serie: '4', tipo: '1' };
    const done = await sendLote(address, loteXml([{ numero: 32, serie: '4', substituido }], { numero: '32' }));
    assert.equal(done.situacao, '4', done.documento);
    const chave = /Id="NFS(\d{50})"/.exec(done.documento)![1]!;
    const { body } = await request(address, `/integracao/api/v1/nfse/${chave}`);
    assert.match(body.nota.xml_nota, new RegExp(`<chSubstda>${old}</chSubstda>`));
    await cancelled(address, old);
    const shown = await call(address, 'ConsultarNfsePorRps', porRpsXml(31, '4'));
    assert.match(
      shown.documento,
      new RegExp(
        `</NfseCancelamento><NfseSubstituicao versao="1.00"><SubstituicaoNfse Id="[^"]+"><NfseSubstituidora>${first(done.documento, 'Numero')}</NfseSubstituidora></SubstituicaoNfse></NfseSubstituicao></CompNfse>`,
      ),
    );
    assert.equal(first(done.documento, 'NfseSubstituida'), first(shown.documento, 'Numero'));
    assert.equal(first(shown.documento, 'CodigoCancelamento'), '9');
    const { body: eventos } = await request(address, `/integracao/api/v1/nfse/${old}/eventos`);
    assert.deepEqual(
      eventos.eventos.map(({ tipo_evento }: { tipo_evento: string }) => tipo_evento),
      ['cancelamento_por_substituicao'],
    );
    // The lot ends after its event was registered, and no worker takes it up again.
    await until(async () => {
      const { rows } = await service.pool.query("select count(*)::int as due from fila where tipo = 'lote'");
      return rows[0].due === 0 ? true : undefined;
    }, 'no lot is due');
    const unknown = await sendLote(
      address,
      loteXml([{ numero: 33, serie: '4', substituido: { ...substituido, numero: '99' } }], { numero: '33' }),
    );
    assert.deepEqual([unknown.situacao, first(unknown.documento, 'Codigo')], ['3', 'E76']);
  });
});

describe('the answers of the six operations', () => {
  let service: TestService;
  let address: string;
  before(async () => {
    service = await startTestService();
    ({ address } = service);
  });
  /** Asks until the answer matches. */
  const untilSaid = (operacao: string, xml: string, wanted: RegExp): Promise<string> =>
    until(async () => {
      const { documento } = await call(address, operacao, xml);
      return wanted.test(documento) ? documento : undefined;
    }, `${operacao} says ${wanted}`);
  const codes = async (operacao: string, xml: string): Promise<string[]> =>
    all((await call(address, operacao, xml)).documento, 'Codigo');
  const consulta = (filtros: string, cnpj?: string): Promise<string[]> =>
    codes('ConsultarNfse', consultaXml(filtros, cnpj));

  test('a note that the national environment refuses is told of beside those that it took, and its RPS is free', async () => {
    const nobody = '<Tomador><RazaoSocial>adn:rejeita=E1235</RazaoSocial></Tomador>';
    const two = [
      { numero: 1, serie: '1' },
      { numero: 2, serie: '1', tomador: nobody },
    ];
    const sent = await sendLote(address, loteXml(two));
    assert.equal(sent.situacao, '4', sent.documento);
    const asked = porProtocolo('ConsultarLoteRpsEnvio', sent.protocolo);
    const partly = await untilSaid('ConsultarLoteRps', asked, /E89.*E1235/);
    assert.match(
      partly,
      /<ListaNfse><CompNfse>.*<\/ListaNfse><ListaMensagemRetorno><MensagemRetorno><Codigo>E89<\/Codigo><Mensagem>RPS 2, série 1, tipo 1: /,
    );
    assert.equal(all(partly, 'CompNfse').length, 1);
    const free = 'Corrija o RPS e envie-o em outro lote: o número dele está livre.';
    assert.equal(first(partly, 'Correcao'), `${free} As notas de ListaNfse não são afetadas.`);
    const byRps = await call(address, 'ConsultarNfsePorRps', porRpsXml(2));
    assert.match(first(byRps.documento, 'Mensagem')!, /E1235/);
    assert.equal(first(byRps.documento, 'Correcao'), free);
    const again = await sendLote(address, loteXml([{ numero: 2, serie: '1' }], { numero: '2' }));
    assert.equal(again.situacao, '4', again.documento);
    assert.match((await call(address, 'ConsultarNfsePorRps', porRpsXml(2))).documento, /<CompNfse>/);
    const chave = /Id="NFS(\d{50})"/.exec(again.documento)![1]!;
    const used = await call(address, 'ConsultarLoteRps', asked);
    assert.equal(
      first(used.documento, 'Correcao'),
      `O número deste RPS já tem outra nota, a de chave ${chave}. As notas de ListaNfse não são afetadas.`,
    );
  });

  test('a substitute that the national environment refused took nothing’s place, and its RPS is sent without what it replaced', async () => {
    const { address, store, world } = await startTestService({ worker: false });
    const municipio = (await store.municipios.findBySlug('integracao'))!;
    const send = async (xml: string, simular?: string): Promise<string> => {
      const sent = await call(address, 'RecepcionarLoteRps', xml, undefined, simular);
      // The event of a substitution is registered and decided before its note is sent.
      for (const step of [processLotes, deliverEventos, deliverNotas]) {
        while ((await step(world, municipio)).delivered > 0);
      }
      const asked = porProtocolo('ConsultarLoteRpsEnvio', first(sent.documento, 'Protocolo')!);
      return (await call(address, 'ConsultarLoteRps', asked)).documento;
    };
    await send(loteXml([{ numero: 1 }]));
    const substituido = { numero: '1', serie: '1', tipo: '1' };
    const refused = await send(loteXml([{ numero: 2, substituido }], { numero: '2' }), 'adn:rejeita=E1236');
    assert.equal(
      first(refused, 'Correcao'),
      'Corrija o RPS e envie-o em outro lote, sem RpsSubstituido: a nota que ele substituía já está cancelada.',
    );
    const old = await call(address, 'ConsultarNfsePorRps', porRpsXml(1));
    assert.match(old.documento, /<NfseCancelamento /);
    assert.doesNotMatch(old.documento, /NfseSubstituicao/);
    assert.match(await send(loteXml([{ numero: 2 }], { numero: '3' })), /<CompNfse>/);
  });

  test('a lot none of whose notes the national environment took is processed anew when it is sent again', async () => {
    const xml = loteXml([{ numero: 1, serie: '9' }], { numero: '90' });
    const sent = await sendLote(address, xml, undefined, { simular: 'adn:rejeita=E1236' });
    const asked = porProtocolo('ConsultarLoteRpsEnvio', sent.protocolo);
    await untilSaid('ConsultarLoteRps', asked, /E1236/);
    const sentAgain = await Promise.all([1, 2].map(() => sendLote(address, xml)));
    const [one, two] = sentAgain.map(({ protocolo }) => protocolo);
    assert.equal(one, two);
    assert.notEqual(one, sent.protocolo);
    assert.match(sentAgain[0]!.documento, /<CompNfse>/);
    // One of its notes is valid, so the lot is the same for good. The old protocol keeps its answer.
    assert.equal((await sendLote(address, xml)).protocolo, one);
    assert.match(await untilSaid('ConsultarLoteRps', asked, /E89/), /E1236/);
    assert.equal((await service.pool.query("select 1 from lotes where numero_lote = '90'")).rowCount, 2);
  });

  test('what the header asks the national environment to play holds for a lot and for a cancellation', async () => {
    const sent = await sendLote(address, loteXml([{ numero: 1, serie: '2' }], { numero: '3' }), undefined, {
      simular: 'adn:rejeita=E1236',
    });
    const asked = porProtocolo('ConsultarLoteRpsEnvio', sent.protocolo);
    const refused = await untilSaid('ConsultarLoteRps', asked, /E1236/);
    assert.match(refused, /^<ConsultarLoteRpsResposta [^>]*><ListaMensagemRetorno>/);
    assert.match(
      first(refused, 'Correcao')!,
      /está livre\. Se a causa não estava no lote, envie-o de novo como está\.$/,
    );
    const typo = await call(
      address,
      'RecepcionarLoteRps',
      loteXml([{ numero: 9, serie: '2' }], { numero: '11' }),
      undefined,
      'adn:rejeta=E1',
    );
    assert.equal(first(typo.documento, 'Codigo'), 'L003', typo.documento);
    assert.match(typo.documento, /adn:rejeita=E1234/);
    assert.doesNotMatch(typo.documento, /ignorado/);
    assert.equal((await service.pool.query('select 1 from lotes where numero_lote = $1', ['11'])).rowCount, 0);

    const done = await sendLote(address, loteXml([{ numero: 2, serie: '2' }], { numero: '4' }));
    const numero = first(done.documento, 'Numero')!;
    const slow = await call(address, 'CancelarNfse', cancelamentoXml(numero), undefined, 'adn:atraso=1h');
    assert.equal(first(slow.documento, 'Sucesso'), 'true', slow.documento);
    // A cancellation under way is not yet a cancellation, which would be E79.
    assert.deepEqual(await codes('CancelarNfse', cancelamentoXml(numero)), ['L302']);
    // An RPS cannot replace this note either, although the provider requested the cancellation.
    const substituido = { numero: '2', serie: '2', tipo: '1' };
    const late = await sendLote(address, loteXml([{ numero: 3, serie: '2', substituido }], { numero: '5' }));
    assert.deepEqual([late.situacao, all(late.documento, 'Codigo')], ['3', ['E7']]);
  });

  test('an RPS is replaced once: not by two of a lot, not by two lots at once, and not after it', async () => {
    await sendLote(address, loteXml([{ numero: 1, serie: '3' }], { numero: '6' }));
    const substituido = { numero: '1', serie: '3', tipo: '1' };
    const twice = loteXml(
      [2, 3].map((numero) => ({ numero, serie: '3', substituido })),
      { numero: '7' },
    );
    const { documento } = await call(address, 'RecepcionarLoteRps', twice);
    assert.deepEqual(all(documento, 'Codigo'), ['E7']);
    assert.match(documento, /RPS 3, série 3/);
    const ended = await Promise.all(
      [4, 5].map((numero) =>
        sendLote(address, loteXml([{ numero, serie: '3', substituido }], { numero: String(numero + 4) })),
      ),
    );
    assert.deepEqual(ended.map(({ situacao }) => situacao).toSorted(), ['3', '4']);
    assert.deepEqual(
      ended.flatMap((one) => all(one.documento, 'Codigo').filter((code) => code.startsWith('E'))),
      ['E7'],
    );
    await untilSaid('ConsultarNfsePorRps', porRpsXml(1, '3'), /<NfseSubstituicao /);
    const after = await sendLote(address, loteXml([{ numero: 6, serie: '3', substituido }], { numero: '10' }));
    assert.deepEqual([after.situacao, all(after.documento, 'Codigo')], ['3', ['E7']]);
  });

  test('of two lots that the judge saw before either was issued, the second is refused in its transaction', async () => {
    const { address, store, world } = await startTestService({ worker: false });
    const municipio = (await store.municipios.findBySlug('integracao'))!;
    const protocolo = async (xml: string): Promise<string> =>
      first((await call(address, 'RecepcionarLoteRps', xml)).documento, 'Protocolo')!;
    await protocolo(loteXml([{ numero: 1 }]));
    await processLotes(world, municipio);
    const substituido = { numero: '1', serie: '1', tipo: '1' };
    const lotes: string[] = [];
    for (const numero of [2, 3])
      lotes.push(await protocolo(loteXml([{ numero, substituido }], { numero: String(numero) })));
    // Both requests wait at the transaction before one enters.
    const { issue } = store.lotes;
    const both = Promise.withResolvers<void>();
    let waiting = 0;
    store.lotes.issue = async (...asked) => {
      waiting += 1;
      if (waiting === 2) both.resolve();
      await both.promise;
      return issue(...asked);
    };
    await Promise.all([processLotes(world, municipio), processLotes(world, municipio)]);
    const ended = await Promise.all(
      lotes.map((one) => call(address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', one))),
    );
    assert.deepEqual(ended.map(({ documento }) => first(documento, 'Codigo') ?? 'ListaNfse').toSorted(), [
      'E7',
      'ListaNfse',
    ]);
  });

  test('a question that can find nothing because it is wrong says so', async () => {
    await sendLote(address, loteXml([{ numero: 1, serie: '7' }], { numero: '71' }));
    const tomador = (documento: string): string => `<Tomador><CpfCnpj>${documento}</CpfCnpj></Tomador>`;
    assert.deepEqual(await consulta(tomador('<Cpf>123</Cpf>')), ['E155']);
    assert.deepEqual(await consulta(tomador('<Cnpj>1122233300018</Cnpj>')), ['E155']);
    assert.deepEqual(await consulta('<IntermediarioServico><CpfCnpj><Cpf>1</Cpf></CpfCnpj></IntermediarioServico>'), [
      'E154',
    ]);
    assert.deepEqual(await consulta('', '04105382000129'), ['E45']);
    const half = await call(
      address,
      'ConsultarNfse',
      consultaXml('<PeriodoEmissao><DataInicial>2026-11-01</DataInicial></PeriodoEmissao>'),
    );
    assert.equal(first(half.documento, 'Codigo'), 'E160');
    assert.match(first(half.documento, 'Mensagem')!, /falta DataFinal/);
    // A period without any day sets no criterion.
    for (const days of ['', '<DataInicial></DataInicial><DataFinal/>']) {
      const empty = consultaXml(`<NumeroNfse>999999</NumeroNfse><PeriodoEmissao>${days}</PeriodoEmissao>`);
      assert.match((await call(address, 'ConsultarNfse', empty)).documento, /<ListaNfse><\/ListaNfse>/);
    }
    assert.match(
      (
        await call(
          address,
          'ConsultarNfse',
          consultaXml('<Tomador><InscricaoMunicipal>77</InscricaoMunicipal></Tomador>'),
        )
      ).documento,
      /<ListaNfse><\/ListaNfse>/,
    );
  });

  test('a note is cancelled by the number of its year, its municipality and a reason', async () => {
    const { documento } = await sendLote(address, loteXml([{ numero: 1, serie: '5' }], { numero: '51' }));
    const numero = first(documento, 'Numero')!;
    const ofYear = (ano: string): string => `${ano}${numero.padStart(11, '0')}`;
    assert.deepEqual(await codes('CancelarNfse', cancelamentoXml(ofYear('2015'))), ['E78']);
    assert.deepEqual(await codes('CancelarNfse', cancelamentoXml(numero, '')), ['E160']);
    assert.deepEqual(await codes('CancelarNfse', cancelamentoXml(numero, '1', PRESTADOR, '9999999')), ['E42']);
    assert.deepEqual(await codes('CancelarNfse', cancelamentoXml(numero, '1', PRESTADOR, '')), ['E160']);
    const elsewhere = await call(address, 'CancelarNfse', cancelamentoXml(numero, '1', PRESTADOR, '3304557'));
    assert.equal(first(elsewhere.documento, 'Codigo'), 'E42');
    assert.match(
      first(elsewhere.documento, 'Mensagem')!,
      /\(CodigoMunicipio: 3304557\) A nota é do município 3550308 \(OrgaoGerador\)\.$/,
    );
    const other = await call(address, 'ConsultarNfse', consultaXml(`<NumeroNfse>${ofYear('2025')}</NumeroNfse>`));
    assert.match(other.documento, /<ListaNfse><\/ListaNfse>/);
    const done = await call(address, 'CancelarNfse', cancelamentoXml(ofYear('2026')));
    assert.equal(first(done.documento, 'Sucesso'), 'true', done.documento);
  });

  test('whoever found nothing too often waits to be told so again; what exists is found, issued and cancelled all the same', async () => {
    const { address } = await startTestService();
    const guess = porProtocolo('ConsultarLoteRpsEnvio', '123');
    // Slow clients regain their quota meanwhile, so only the final refusal is certain.
    const late = await until(async () => {
      const answers = await Promise.all(
        Array.from({ length: MISSES_MAX }, () => call(address, 'ConsultarLoteRps', guess)),
      );
      return answers.find(({ status }) => status !== 200);
    }, 'who guesses is told to wait');
    assert.equal(late.status, 429, late.body);
    assert.match(late.body, /Consultas demais sem resultado: aguarde \d+ segundos?\./);
    const sent = await call(address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }]));
    const protocolo = first(sent.documento, 'Protocolo') ?? '';
    assert.match(protocolo, /^\d+$/, sent.body);
    const found = await call(
      address,
      'ConsultarSituacaoLoteRps',
      porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo),
    );
    assert.match(first(found.documento, 'Situacao') ?? '', /^[1234]$/, found.body);
    const cancel = await call(address, 'CancelarNfse', cancelamentoXml('99'));
    assert.equal(first(cancel.documento, 'Codigo'), 'E78', cancel.body);
  });

  test('a wrong day is named by the element that it stands in', async () => {
    const sent = await sendLote(
      address,
      loteXml([{ numero: 1, serie: '6', emissao: '2026-02-31T10:00:00' }], { numero: '61' }),
    ).catch((error: Error) => ({ documento: error.message }));
    assert.match(sent.documento, /DataEmissao/);
    assert.doesNotMatch(sent.documento, /DataCompetencia/);
  });

  test('a day with more notes than one answer is made of at once comes whole, and one with too many says so', async () => {
    const { pool } = service;
    const cnpj = OTHER_CNPJ;
    await sendLote(address, loteXml([{ numero: 1 }], { cnpj }), undefined, { cnpj });
    const { rows } = await pool.query<{ id: string; chave: string; numero: string }>(
      'select id, chave_acesso as chave, numero_dps as numero from notas where prestador_cpf_cnpj = $1',
      [cnpj],
    );
    const { id, chave, numero } = rows[0]!;
    /** Copies of a note, with the following numbers. */
    const copied = (count: number): Promise<unknown> =>
      pool.query(
        `with copies as (insert into notas (tenant, id, mes, chave_acesso, numero_protocolo, id_dps, estado, numero_dps, serie_dps,
            numero_dps_nacional, data_emissao, data_competencia, prestador_cpf_cnpj, prestador_razao_social, valor_servico)
          select n.tenant, 1000000 + i, n.mes, left(n.chave_acesso, 23) || lpad((n.numero_dps + i)::text, 13, '0') || right(n.chave_acesso, 14),
            n.mes || 'copia' || i, 'copia' || i, 'autorizada', n.numero_dps + i, n.serie_dps, n.numero_dps_nacional, n.data_emissao,
            n.data_competencia, n.prestador_cpf_cnpj, n.prestador_razao_social, n.valor_servico
          from notas n, generate_series(1, $2::int) i where n.id = $1 on conflict do nothing returning tenant, mes, id)
        insert into documentos (tenant, mes, nota, recebido, nfse)
        select c.tenant, c.mes, c.id, '', d.nfse from copies c, documentos d where d.nota = $1`,
        [id, count],
      );
    await copied(701);
    const day =
      '<PeriodoEmissao><DataInicial>2026-11-21</DataInicial><DataFinal>2026-11-21</DataFinal></PeriodoEmissao>';
    const { documento, status } = await call(address, 'ConsultarNfse', consultaXml(day, cnpj));
    assert.equal(status, 200);
    const keys = [...documento.matchAll(/<InfNfse Id="NFS(\d{50})">/g)].map(([, one]) => one!);
    assert.equal(new Set(keys).size, keys.length);
    const numbers = keys.map((one) => Number(one.slice(23, 36)));
    assert.deepEqual(
      numbers,
      numbers.toSorted((a, b) => a - b),
    );
    assert.deepEqual(
      numbers.filter((one) => one > Number(numero)),
      Array.from({ length: 701 }, (_, place) => Number(numero) + 1 + place),
    );
    assert.ok(keys.includes(chave));
    assert.match(
      documento,
      /^<ConsultarNfseResposta xmlns="[^"]*"><ListaNfse><CompNfse>.*<\/ListaNfse><\/ConsultarNfseResposta>$/s,
    );

    const { countNotasOfPrestador } = service.store.lotes;
    service.store.lotes.countNotasOfPrestador = async (_tenant, _asked, max) => ({ notas: max, faixas: [] });
    const many = await call(address, 'ConsultarNfse', consultaXml(day, cnpj));
    service.store.lotes.countNotasOfPrestador = countNotasOfPrestador;
    assert.deepEqual([first(many.documento, 'Codigo'), /50\.000/.test(many.documento)], ['L998', true]);
    // An answer that fails half-way is cut off, so that no client takes it for a whole one.
    const { listNotasOfPrestador } = service.store.lotes;
    service.store.lotes.listNotasOfPrestador = async (...asked) =>
      asked[4] === undefined ? listNotasOfPrestador(...asked) : Promise.reject(new Error('segredo'));
    await assert.rejects(call(address, 'ConsultarNfse', consultaXml(day, cnpj)));
    service.store.lotes.listNotasOfPrestador = listNotasOfPrestador;
    assert.ok(service.logged.some(({ message }) => /resposta longa/.test(message)));
  });
});

describe('a lot', () => {
  test('of fifty with three wrong issues nothing; mended, it issues all, and REST has them by the same keys', async () => {
    const { address, pool } = await startTestService();
    const fifty = Array.from({ length: 50 }, (_, place) => ({ numero: place + 1, serie: '7' }));
    const wrong = fifty.map((rps) => {
      if (rps.numero === 5) return { ...rps, valores: '<ValorServicos>0.00</ValorServicos><IssRetido>2</IssRetido>' };
      if (rps.numero === 17) return { ...rps, cMun: '9999998' };
      return rps.numero === 40 ? { ...rps, extensao: '<ControleIBSCBS><CST>000</CST></ControleIBSCBS>' } : rps;
    });
    const refused = await sendLote(address, loteXml(wrong));
    assert.equal(refused.situacao, '3');
    const told = all(refused.documento, 'MensagemRetorno').map((one) => [first(one, 'Codigo'), first(one, 'Mensagem')]);
    assert.deepEqual(
      told.map(([codigo]) => codigo),
      ['E18', 'E42', 'E802'],
    );
    assert.match(told[0]![1]!, /^RPS 5, série 7, tipo 1: O valor do serviço deve ser maior que zero\./);
    assert.match(told[1]![1]!, /^RPS 17, /);
    assert.match(told[2]![1]!, /^RPS 40, .*Falta a classificação/);
    const { rows } = await pool.query('select count(*)::int as notas from notas');
    assert.equal(rows[0].notas, 0);
    const byRps = await call(address, 'ConsultarNfsePorRps', porRpsXml(1, '7'));
    assert.equal(first(byRps.documento, 'Codigo'), 'E89');

    const done = await sendLote(address, loteXml(fifty));
    assert.equal(done.situacao, '4', done.documento);
    const keys = [...done.documento.matchAll(/<InfNfse Id="NFS(\d{50})">/g)].map(([, chave]) => chave!);
    assert.equal(new Set(keys).size, 50);
    for (const [place, chave] of keys.entries()) {
      const { body } = await request(address, `/integracao/api/v1/nfse/${chave}`);
      assert.equal(body.nota.numero_dps, place + 1);
      const rps = await call(address, 'ConsultarNfsePorRps', porRpsXml(place + 1, '7'));
      assert.match(rps.documento, new RegExp(`Id="NFS${chave}"`));
    }
  });

  test('sent twice is the same lot; an RPS is used once', async () => {
    const { address, pool } = await startTestService();
    const xml = loteXml([{ numero: 1 }]);
    const [one, two] = await Promise.all([
      call(address, 'RecepcionarLoteRps', xml),
      call(address, 'RecepcionarLoteRps', xml),
    ]);
    assert.equal(first(one.documento, 'Protocolo'), first(two.documento, 'Protocolo'));
    await sendLote(address, xml);
    assert.equal((await pool.query('select 1 from notas')).rowCount, 1);
    const reused = await sendLote(address, loteXml([{ numero: 2 }, { numero: 1 }], { numero: '2' }));
    assert.equal(reused.situacao, '3');
    assert.equal(first(reused.documento, 'Codigo'), 'E10');
    assert.match(reused.documento, /\d{50}/);
    assert.equal((await pool.query('select 1 from notas')).rowCount, 1);
    // The other RPS of that lot was not used.
    assert.equal((await sendLote(address, loteXml([{ numero: 2 }], { numero: '3' }))).situacao, '4');
  });

  test('of two at once with one RPS in both, one is issued, and the other says which note it is', async () => {
    const { address, store, world, pool } = await startTestService({ worker: false });
    const municipio = (await store.municipios.findBySlug('integracao'))!;
    const lists = [
      [{ numero: 1 }, { numero: 2 }],
      [{ numero: 3 }, { numero: 2 }],
    ];
    const sent = await Promise.all(
      lists.map((list, place) => call(address, 'RecepcionarLoteRps', loteXml(list, { numero: String(place + 1) }))),
    );
    await Promise.all(lists.map(() => processLotes(world, municipio)));
    const ended = await Promise.all(
      sent.map(({ documento }) =>
        call(address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', first(documento, 'Protocolo')!)),
      ),
    );
    const told = ended.map(({ documento }) => first(documento, 'Codigo') ?? 'ListaNfse');
    assert.deepEqual(told.toSorted(), ['E10', 'ListaNfse'], JSON.stringify(ended));
    const { rows } = await pool.query('select chave_acesso as chave from notas');
    assert.equal(rows.length, 2);
    const refused = ended[told.indexOf('E10')]!.documento;
    assert.ok(
      rows.some(({ chave }) => refused.includes(chave)),
      refused,
    );
  });

  test('is refused at once for what its head, its count or its RPS say', async () => {
    const { address } = await startTestService({ worker: false });
    const codes = async (xml: string): Promise<string[]> =>
      all((await call(address, 'RecepcionarLoteRps', xml)).documento, 'Codigo');
    assert.deepEqual(await codes(loteXml([{ numero: 1 }], { quantidade: 2 })), ['E69']);
    assert.deepEqual(await codes(loteXml([{ numero: 1 }], { numero: '' })), ['E88']);
    assert.deepEqual(await codes(loteXml([])), ['E160']);
    assert.deepEqual(await codes(loteXml(Array.from({ length: 501 }, (_, place) => ({ numero: place + 1 })))), [
      'E160',
    ]);
    assert.deepEqual(await codes(loteXml([{ numero: 1 }, { numero: 1 }])), ['E71']);
    assert.deepEqual(await codes(loteXml([{ numero: 1, serie: 'A1' }])), ['E97']);
    assert.deepEqual(await codes(loteXml([{ numero: 1, natureza: '9', status: '2' }])), ['E144', 'E68']);
    assert.deepEqual(
      await codes(
        loteXml([{ numero: 1 }]).replace(
          /<Cnpj>11222333000181<\/Cnpj>(?=<\/Prestador>)/,
          '<Cnpj>04105382000129</Cnpj>',
        ),
      ),
      ['E159'],
    );
    const sixty = Array.from({ length: 60 }, (_, place) => ({ numero: place + 1, natureza: '9' }));
    const many = await codes(loteXml(sixty));
    assert.equal(many.length, 50);
    assert.equal(many.at(-1), 'E49');
  });

  test('waits for the worker, and says so', async () => {
    const { address } = await startTestService({ worker: false });
    const { documento } = await call(address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }]));
    const protocolo = first(documento, 'Protocolo')!;
    const situacao = await call(
      address,
      'ConsultarSituacaoLoteRps',
      porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo),
    );
    assert.equal(first(situacao.documento, 'Situacao'), '2');
    const lote = await call(address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo));
    assert.equal(first(lote.documento, 'Codigo'), 'E92');
    const rps = await call(address, 'ConsultarNfsePorRps', porRpsXml(1));
    assert.equal(first(rps.documento, 'Codigo'), 'E92');
    // The protocol belongs to its provider.
    const other = porProtocolo('ConsultarLoteRpsEnvio', protocolo, '04105382000129');
    assert.equal(first((await call(address, 'ConsultarLoteRps', other)).documento, 'Codigo'), 'E86');
  });

  test('whose worker died is begun anew by the next, and issues its notes once', async () => {
    const { address, store, world, pool, clock } = await startTestService({ worker: false });
    const municipio = (await store.municipios.findBySlug('integracao'))!;
    const sent = await call(address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }, { numero: 2 }]));
    const dead = await store.lotes.claim('integracao', clock.now, clock.now + LOTE_LEASE_MS);
    assert.ok(dead);
    assert.equal((await processLotes(world, municipio)).delivered, 0);
    clock.now += LOTE_LEASE_MS;
    assert.equal((await processLotes(world, municipio)).delivered, 1);
    const notas = async (): Promise<number> => (await pool.query('select 1 from notas')).rowCount!;
    assert.equal(await notas(), 2);
    // The dead worker returns: its claim has ended, and its writes have no effect.
    assert.equal(await store.lotes.issue('integracao', dead, [], { now: clock.now, replaces: false }), 'lost');
    await store.lotes.refuse('integracao', dead, [], clock.now);
    const protocolo = first(sent.documento, 'Protocolo')!;
    const asked = porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo);
    assert.equal(first((await call(address, 'ConsultarSituacaoLoteRps', asked)).documento, 'Situacao'), '4');
    assert.equal(await notas(), 2);
  });

  test('that fails for no reason of its own is tried again, and in the end says so', async () => {
    const { address, store, world, clock } = await startTestService({ worker: false });
    const municipio = (await store.municipios.findBySlug('integracao'))!;
    const { documento } = await call(address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }]));
    const issue = store.lotes.issue;
    store.lotes.issue = async () => {
      throw new Error('a database that is away');
    };
    for (let turn = 0; turn < 5; turn += 1) {
      await assert.rejects(processLotes(world, municipio));
      clock.now += LOTE_LEASE_MS;
    }
    assert.equal((await processLotes(world, municipio)).delivered, 1);
    store.lotes.issue = issue;
    const asked = porProtocolo('ConsultarLoteRpsEnvio', first(documento, 'Protocolo')!);
    assert.equal(first((await call(address, 'ConsultarLoteRps', asked)).documento, 'Codigo'), 'L999');
  });

  test('takes from the correlation of the municipality what the RPS cannot say', async () => {
    const { address, store, clock } = await startTestService();
    for (const tenant of ['vila', 'cidade']) {
      await store.municipios.create({ tenant, ambiente: 'homologacao', codigoIbge: '3550308' }, clock.now);
    }
    const bare = { nbs: '', extensao: '' };
    const without = await sendLote(address, loteXml([{ numero: 1, ...bare }]), 'vila');
    assert.deepEqual([without.situacao, first(without.documento, 'Codigo')], ['3', 'E160']);
    const full = { nbs: '115021000', cst: '000', c_class_trib: '000001', c_ind_op: '100301' };
    await storeCorrelacao(store, 'cidade', [
      { item: '01.01', codigo_municipal: '', ...full },
      { item: '07.02', codigo_municipal: '702A', ...full, codigo_tributacao_nacional: '010101' },
    ]);
    const done = await sendLote(
      address,
      loteXml([
        { numero: 1, ...bare },
        { numero: 2, ...bare, item: '7.02', codigoMunicipal: '702A' },
      ]),
      'cidade',
    );
    assert.equal(done.situacao, '4', done.documento);
    const chaves = [...done.documento.matchAll(/Id="NFS(\d{50})"/g)].map(([, chave]) => chave!);
    const byNumber = await call(address, 'ConsultarNfse', consultaXml('<NumeroNfse>2</NumeroNfse>'), 'cidade');
    assert.match(byNumber.documento, new RegExp(`Id="NFS${chaves[1]}"`));
    assert.equal([...byNumber.documento.matchAll(/<InfNfse /g)].length, 1);
  });
});

describe('the envelope', () => {
  let address: string;
  let world: TestService['world'];
  before(async () => {
    ({ address, world } = await startTestService({ worker: false }));
  });

  const asked = porProtocolo('ConsultarSituacaoLoteRpsEnvio', '123');
  const operation = (inside: string, name = 'ConsultarSituacaoLoteRps', ns = ABRASF): string =>
    `<n:${name} xmlns:n="${ns}">${inside}</n:${name}>`;

  test('is read in every form, and answered in the form and the namespace in which it came', async () => {
    for (const inside of [
      `<parameters>${escaped(`<?xml version="1.0" encoding="ISO-8859-1"?>\n${asked}`)}</parameters>`,
      `<parameters><![CDATA[${asked}]]></parameters>`,
      `<header></header><parameters>${escaped(asked)}</parameters>`,
      `<p:parameters xmlns:p="urn:x">${escaped(asked)}</p:parameters>`,
    ]) {
      const answer = await post(address, envelope(operation(inside)));
      assert.equal(answer.status, 200);
      assert.equal(first(answer.documento, 'Codigo'), 'E86', inside);
      assert.match(answer.body, /<return>&lt;Consultar/);
    }
    for (const inside of [`<parameters>${asked}</parameters>`, asked]) {
      const answer = await post(address, envelope(operation(inside)));
      assert.match(
        answer.body,
        new RegExp(`<return><ConsultarSituacaoLoteRpsResposta xmlns="${ABRASF}"><ListaMensagemRetorno>`),
      );
    }
    const speedgov = asked.replace(ABRASF, 'http://ws.speedgov.com.br/consultar_situacao_lote_rps_envio_v1.xsd');
    const own = await post(
      address,
      envelope(operation(`<parameters>${escaped(speedgov)}</parameters>`, undefined, 'urn:meu')),
    );
    assert.match(own.documento, /xmlns="http:\/\/ws\.speedgov\.com\.br\/consultar_situacao_lote_rps_resposta_v1\.xsd"/);
    assert.match(own.body, /<n:ConsultarSituacaoLoteRpsResponse xmlns:n="urn:meu"><return>/);
    const bare = await post(
      address,
      envelope(
        `<ConsultarSituacaoLoteRps><parameters>${escaped(asked.replace(/ xmlns="[^"]*"/, ''))}</parameters></ConsultarSituacaoLoteRps>`,
      ),
    );
    assert.match(bare.documento, /^<ConsultarSituacaoLoteRpsResposta><Lista/);
  });

  test('of SOAP 1.2 is answered in SOAP 1.2', async () => {
    const answer = await post(address, envelope(operation(`<parameters>${escaped(asked)}</parameters>`), '1.2'), {
      versao: '1.2',
    });
    assert.equal(answer.status, 200);
    assert.equal(answer.type, 'application/soap+xml; charset=utf-8');
    assert.match(answer.body, /xmlns:soap="http:\/\/www\.w3\.org\/2003\/05\/soap-envelope"/);
    const fault = await post(address, envelope('<x/>', '1.2'), { versao: '1.2' });
    assert.equal(fault.status, 400);
    assert.match(fault.body, /<soap:Value>soap:Sender<\/soap:Value>/);
  });

  test('that is none is a fault that tells no more than it should', async () => {
    const bomb = `<!DOCTYPE e [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>${envelope(operation('<parameters>&b;</parameters>'))}`;
    const xxe = `<!DOCTYPE e [<!ENTITY x SYSTEM "file:///etc/passwd">]>${envelope(operation('<parameters>&x;</parameters>'))}`;
    const deep = envelope(operation('<a>'.repeat(40) + '</a>'.repeat(40)));
    for (const [body, status, code] of [
      ['isto não é XML', 500, 'soap:Client'],
      [bomb, 500, 'soap:Client'],
      [xxe, 500, 'soap:Client'],
      [deep, 500, 'soap:Client'],
      ['<a/>', 500, 'soap:Client'],
      ['<Envelope xmlns="urn:soap"/>', 500, 'soap:VersionMismatch'],
      [envelope(''), 500, 'soap:Client'],
      [envelope('<Apagar/>'), 500, 'soap:Client'],
      [
        envelope(operation('')).replace(
          '<e:Body>',
          '<e:Header><t:T xmlns:t="urn:t" e:mustUnderstand="1"/></e:Header><e:Body>',
        ),
        500,
        'soap:MustUnderstand',
      ],
    ] as const) {
      const answer = await post(address, body);
      assert.equal(answer.status, status, body);
      assert.match(answer.body, new RegExp(`<faultcode>${code}</faultcode><faultstring>[^<]+</faultstring>`), body);
      assert.doesNotMatch(answer.body, /root:|at \w+ \(|\.ts:|node_modules/);
    }
    for (const inner of [
      `<?xml version="1.1"?><a/>`,
      `<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>`,
      '<a>'.repeat(40),
      'texto',
    ]) {
      const answer = await post(address, envelope(operation(`<parameters><![CDATA[${inner}]]></parameters>`)));
      assert.equal(first(answer.documento, 'Codigo'), 'E160', inner);
    }
    const big = await post(address, envelope(operation(`<parameters>${'x'.repeat(1_100_000)}</parameters>`)));
    assert.equal(big.status, 413);
    assert.match(big.body, /soap:Fault/);
    const nowhere = await post(address, envelope(operation('')), { tenant: 'nenhum' });
    assert.equal(nowhere.status, 404);
    assert.match(nowhere.body, /soap:Fault/);
  });

  test('whose document stands in the header, or changed places with the header, is told so', async () => {
    const cabecalho = '<cabecalho versao="1.00"><versaoDados>1.00</versaoDados></cabecalho>';
    const misplaced = /O documento \(ConsultarSituacaoLoteRpsEnvio\) veio em header/;
    for (const [inside, mensagem] of [
      [`<header>${escaped(asked)}</header>`, misplaced],
      [`<header>${escaped(asked)}</header><parameters/>`, misplaced],
      [`<header>${asked}</header><parameters> </parameters>`, misplaced],
      [
        `<header><![CDATA[${asked}]]></header><parameters><![CDATA[${cabecalho}]]></parameters>`,
        /veio em header, e o cabecalho em parameters: ponha o documento em parameters, e em header o cabecalho/,
      ],
      [`<header>${asked}</header>${cabecalho}`, /veio em header, e o cabecalho em parameters/],
      [`<parameters>${escaped(cabecalho)}</parameters>`, /Falta o documento: .* é o cabecalho, que vai em header\.$/],
      [`<header>${escaped(cabecalho)}</header>`, /Falta o documento: ponha-o, como texto, em parameters\.$/],
      ['<header>texto</header>', /Falta o documento/],
      [
        `<nfseCabecMsg>${escaped(cabecalho)}</nfseCabecMsg><nfseDadosMsg>${escaped(asked)}</nfseDadosMsg>`,
        /veio em nfseDadosMsg, que é nome de outra versão do modelo: aqui é parameters/,
      ],
    ] as const) {
      const answer = await post(address, envelope(operation(inside)));
      assert.equal(first(answer.documento, 'Codigo'), 'E160', inside);
      assert.match(first(answer.documento, 'Mensagem') ?? '', mensagem, inside);
    }
    const right = `<header>${escaped(cabecalho)}</header><parameters>${escaped(asked)}</parameters>`;
    assert.equal(first((await post(address, envelope(operation(right)))).documento, 'Codigo'), 'E86');
  });

  test('that contradicts itself is a fault that says how', async () => {
    const good = envelope(operation(`<parameters><![CDATA[${asked}]]></parameters>`));
    const declared = (attributes: string): string => `<?xml ${attributes}?>${good}`;
    for (const [body, says] of [
      [declared('version="1.1"'), /diz version="1\.1", e só se lê XML 1\.0/],
      [declared('version="1.0" encoding="UTF-16"'), /diz encoding="UTF-16", e os bytes são .*oito bits/],
      [`\ufeff${declared('version="1.0" encoding="UTF-16"')}`, /a marca \(BOM\) de UTF-8; declare encoding="UTF-8"/],
      [`\ufeff${declared('version="1.0" encoding="ISO-8859-1"')}`, /a marca \(BOM\) de UTF-8/],
    ] as const) {
      const answer = await post(address, body);
      assert.equal(answer.status, 500, body);
      assert.match(answer.body.replaceAll('&quot;', '"'), says);
    }
    for (const charset of ['ISO-8859-1', 'utf-16']) {
      const headers = { 'Content-Type': `text/xml; charset=${charset}`, SOAPAction: '""' };
      const body = good.replace('<e:Body>', '<e:Header><a b="é"/></e:Header><e:Body>');
      const answer = await request(address, '/integracao/soap/nfes', { method: 'POST', headers, body });
      assert.equal(answer.status, 415);
      assert.match(answer.body, /O Content-Type diz charset=/);
    }
    // The envelope decides the encoding inside it; the version is the document's own.
    const inner = `<?xml version="1.1" encoding="UTF-8"?>${asked}`;
    const { documento } = await post(address, envelope(operation(`<parameters>${escaped(inner)}</parameters>`)));
    assert.equal(first(documento, 'Codigo'), 'E160');
    assert.match(documento, /só se lê XML 1\.0/);
    assert.match(documento, /xsd|abrasf/i);
  });

  test('a failure of ours is a fault of the server, without a word of it', async () => {
    const broken = await startTestService({ worker: false });
    broken.world.store.lotes.receive = async () => {
      throw new Error('segredo interno');
    };
    const answer = await call(broken.address, 'RecepcionarLoteRps', loteXml([{ numero: 1 }]));
    assert.equal(answer.status, 500);
    assert.match(answer.body, /<faultcode>soap:Server<\/faultcode>/);
    assert.doesNotMatch(answer.body, /segredo/);
  });

  test('is described in WSDL and schema by the address of the request', async () => {
    const wsdl = await request(address, '/integracao/soap/nfes?wsdl');
    assert.equal(wsdl.status, 200);
    assert.equal(wsdl.headers.get('x-nfse-ambiente'), 'homologacao');
    assert.match(wsdl.body, new RegExp(`<soap:address location="${address}/integracao/soap/nfes"/>`));
    assert.match(wsdl.body, new RegExp(`schemaLocation="${address}/integracao/soap/nfes\\?xsd=1"`));
    assert.equal([...wsdl.body.matchAll(/<soap:operation soapAction=""\/>/g)].length, 6);
    const xsd = await request(address, '/integracao/soap/nfes?xsd=1');
    const message = (name: string, inside: string): Buffer =>
      Buffer.from(`<n:${name} xmlns:n="${ABRASF}">${inside}</n:${name}>`);
    assert.deepEqual(
      xsdErrors(xsd.body, message('RecepcionarLoteRps', '<header>a</header><parameters>b</parameters>')),
      [],
    );
    assert.deepEqual(xsdErrors(xsd.body, message('CancelarNfseResponse', '<return>b</return>')), []);
    assert.notDeepEqual(xsdErrors(xsd.body, message('CancelarNfse', '<return>b</return>')), []);
  });

  test('has the codes of a refusal in the line of the log, and nothing of a document', async () => {
    const lines: Record<string, unknown>[] = [];
    const log = { info: (line: object) => void lines.push({ ...line }), warn: () => undefined, error: () => undefined };
    const options = { host: '127.0.0.1', port: 0, accessLog: true, trustProxy: false };
    const door = await createRestDoor({ ...world, log }, options);
    onEnd(() => door.close());
    const codes = [];
    for (const [operacao, xml] of [
      ['RecepcionarLoteRps', loteXml([])],
      ['ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', '1', OTHER_CNPJ)],
    ] as const) {
      const { documento } = await call(door.address, operacao, xml);
      codes.push([...new Set(all(documento, 'Codigo'))].join(' '));
    }
    assert.equal(codes[0], 'E160');
    await until(async () => lines.length >= 2 || undefined, 'the lines of both');
    assert.deepEqual(
      lines.map(({ erro }) => erro),
      codes,
    );
    assert.ok(!JSON.stringify(lines).includes(OTHER_CNPJ));
  });

  test('is described by the address that a proxy says, where a proxy is believed', async () => {
    const asked = async (trustProxy: boolean, baseUrl?: string): Promise<string> => {
      const options = { host: '127.0.0.1', port: 0, accessLog: false, trustProxy };
      const door = await createRestDoor(world, { ...options, ...(baseUrl === undefined ? {} : { baseUrl }) });
      onEnd(() => door.close());
      const headers = { 'X-Forwarded-Proto': 'https', 'X-Forwarded-Host': 'notas.exemplo.gov.br' };
      const { body } = await request(door.address, '/integracao/soap/nfes?WSDL', { headers });
      const [, location, schema] =
        /<xsd:import [^>]*schemaLocation="([^"]*)"[\s\S]*<soap:address location="([^"]*)"/.exec(body)!;
      assert.equal(location, `${schema}?xsd=1`);
      return schema!.replace(door.address, 'aqui');
    };
    assert.equal(await asked(true), 'https://notas.exemplo.gov.br/integracao/soap/nfes');
    assert.equal(await asked(false), 'aqui/integracao/soap/nfes');
    assert.equal(await asked(false, 'https://nfse.exemplo.gov.br'), 'https://nfse.exemplo.gov.br/integracao/soap/nfes');
  });

  test('is read of a client that waits to be told to go on, as those of .NET do', async () => {
    const body = Buffer.from(envelope(operation(`<parameters>${escaped(asked)}</parameters>`)));
    const headers = { 'Content-Type': 'text/xml', 'Content-Length': body.length, Expect: '100-continue' };
    const answer = await new Promise<string>((resolve, reject) => {
      const sent = httpRequest(`${address}/integracao/soap/nfes`, { method: 'POST', headers }, (response) => {
        response
          .setEncoding('utf8')
          .toArray()
          .then((chunks) => resolve(chunks.join('')), reject);
      });
      sent.on('continue', () => sent.end(body)).on('error', reject);
      sent.flushHeaders();
    });
    assert.match(answer, /&lt;Codigo&gt;E86&lt;/);
  });
});
