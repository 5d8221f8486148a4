/**
 * Answers of the legacy port are validated by libxml2 with independent schemas of the model. ABRASF 1.00 has one namespace; SpeedGov has
 * one for each message and one for the contents. Only the municipality's signature is missing.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import {
  DOCUMENTOS,
  type Esquemas,
  type Forma,
  inSpeedGov,
  SPEEDGOV,
  writeEsquemas,
} from '../../../test/support/abrasf-xsd.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { acceptedPatches, EXAMPLE_CHAVE, nfseOf } from '../../../test/support/notas.ts';
import {
  ABRASF,
  call,
  cancelamentoXml,
  consultaXml,
  first,
  loteXml,
  porProtocolo,
  porRpsXml,
  type RpsDeTeste,
  sendLote,
} from '../../../test/support/rps.ts';
import { startTestService, type TestService } from '../../../test/support/service.ts';
import { toolOr } from '../../../test/support/tools.ts';
import { until } from '../../../test/support/until.ts';
import { readXml } from '../../documents/xml.ts';
import { modeloOf } from '../../fiscal/abrasf/modelo.ts';
import { compNfse } from '../../fiscal/abrasf/nota.ts';
import type { Elemento } from '../../fiscal/layout/tree.ts';

const FORMAS = ['abrasf', 'speedgov'] as const;
const folder = mkdtempSync(path.join(tmpdir(), 'nfse-modelo-'));
onEnd(() => rmSync(folder, { recursive: true, force: true }));

const made = (name: string): string => {
  const place = path.join(folder, name);
  mkdirSync(place);
  return place;
};
const ESQUEMAS = {
  abrasf: writeEsquemas(made('abrasf'), 'abrasf', ABRASF),
  speedgov: writeEsquemas(made('speedgov'), 'speedgov', ABRASF),
};
const PUBLICADOS = {
  abrasf: writeEsquemas(made('abrasf-assinada'), 'abrasf', ABRASF, true),
  speedgov: writeEsquemas(made('speedgov-assinada'), 'speedgov', ABRASF, true),
};

const XMLLINT = toolOr('xmllint', 'libxml2-utils');
const SKIP = XMLLINT === undefined ? { skip: 'no xmllint (Debian package libxml2-utils)' } : {};

const rootOf = (documento: string): string => /^<(?:\w+:)?(\w+)/.exec(documento)![1]!;

/** The faults that a schema finds in documents; each is a file with its index in the name. */
function faultsBy(esquema: string, documentos: readonly string[]): readonly string[] {
  const places = documentos.map((documento, at) => {
    const place = path.join(folder, `documento-${at}.xml`);
    writeFileSync(place, documento);
    return place;
  });
  const { status, stderr } = spawnSync(XMLLINT!, ['--noout', '--schema', esquema, ...places], { encoding: 'utf8' });
  assert.ok(status === 0 || status === 3, stderr);
  return stderr.split('\n').filter((line) => line.includes('Schemas validity error'));
}

/** The faults that the schema of a document's root finds in it. */
function faultsOf(esquemas: Esquemas, documento: string): readonly string[] {
  return faultsBy(esquemas(rootOf(documento)), [documento]);
}

/** Documents that must be valid, by schema: one start of the validator serves all of them. */
const toFit = new Map<string, Set<string>>();

function shouldFit(esquemas: Esquemas, documento: string): void {
  toFit.getOrInsertComputed(esquemas(rootOf(documento)), () => new Set()).add(documento);
}

function assertFit(): void {
  for (const [esquema, documentos] of toFit) {
    const faults = faultsBy(esquema, [...documentos]);
    assert.deepEqual(faults, [], faults.length === 0 ? '' : [...documentos].join('\n'));
  }
  toFit.clear();
}

const asked = (forma: Forma, documento: string): string => (forma === 'abrasf' ? documento : inSpeedGov(documento));

let service: TestService;
before(async () => {
  service = await startTestService();
});

/** Sends a valid question in a form, and records question and answer for `assertFit`. */
async function ask(forma: Forma, operacao: string, documento: string, tenant?: string): Promise<string> {
  const question = asked(forma, documento);
  shouldFit(ESQUEMAS[forma], question);
  const answer = await call(service.address, operacao, question, tenant);
  shouldFit(ESQUEMAS[forma], answer.documento);
  return answer.documento;
}

/** An RPS in the form of a 2010 program. */
const puro = (rps: RpsDeTeste): RpsDeTeste => ({ ...rps, nbs: '', extensao: '' });

const VALORES =
  '<ValorServicos>1000.00</ValorServicos><ValorDeducoes>100.00</ValorDeducoes><ValorPis>6.50</ValorPis><ValorCofins>30.00</ValorCofins><ValorInss>11.00</ValorInss><ValorIr>15.00</ValorIr><ValorCsll>10.00</ValorCsll><IssRetido>2</IssRetido><OutrasRetencoes>5.50</OutrasRetencoes><Aliquota>0.0279</Aliquota>';
/** The order of each form. */
const DESCONTOS = {
  abrasf: '<DescontoIncondicionado>20.00</DescontoIncondicionado><DescontoCondicionado>10.00</DescontoCondicionado>',
  speedgov: '<DescontoCondicionado>10.00</DescontoCondicionado><DescontoIncondicionado>20.00</DescontoIncondicionado>',
};
const INTERMEDIARIO =
  '<IntermediarioServico><RazaoSocial>Agência Exemplo</RazaoSocial><CpfCnpj><Cnpj>11444777000161</Cnpj></CpfCnpj></IntermediarioServico>';

let issued: readonly Elemento[] | undefined;

/** `infNFSe` of a note of every kind; the same for both shapes. An amount of the model has at most 15 digits, one of the layout 17. */
function issuedNotas(): readonly Elemento[] {
  issued ??= acceptedPatches().flatMap((patch) => {
    const nfse = nfseOf(patch);
    if (/>\d{14,}\.\d\d</.test(nfse.toString())) return [];
    const reading = readXml(nfse);
    assert.ok('root' in reading);
    return [reading.root.children[0]!];
  });
  return issued;
}

describe('every answer is what the schema has', SKIP, () => {
  for (const forma of FORMAS) {
    test(`of the six operations, in the shape of ${forma}`, async () => {
      const serie = String(FORMAS.indexOf(forma) + 1);
      const lote = loteXml(
        [
          puro({ numero: 1, serie, valores: VALORES + DESCONTOS[forma] }),
          { ...puro({ numero: 2, serie, codigoMunicipal: '101A' }), extensao: INTERMEDIARIO },
          puro({ numero: 3, serie, tomador: '<Tomador></Tomador>' }),
        ],
        { numero: serie },
      );
      const received = await ask(forma, 'RecepcionarLoteRps', lote);
      const protocolo = first(received, 'Protocolo')!;
      const situacao = await until(async () => {
        const question = porProtocolo('ConsultarSituacaoLoteRpsEnvio', protocolo);
        const said = first(await ask(forma, 'ConsultarSituacaoLoteRps', question), 'Situacao');
        return said === '2' ? undefined : said;
      }, 'the end of a lot');
      assert.equal(situacao, '4');
      const done = await ask(forma, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo));
      assert.equal([...done.matchAll(/<InfNfse /g)].length, 3);
      assert.equal(first(done, 'Competencia'), forma === 'abrasf' ? '2026-11-20T00:00:00' : '2026-11-20');
      const discounts = [...done.matchAll(/<(Desconto\w+)>([^<]+)</g)].map(([, name, value]) => `${name} ${value}`);
      const wanted = ['DescontoIncondicionado 20.00', 'DescontoCondicionado 10.00'];
      assert.deepEqual(discounts, forma === 'abrasf' ? wanted : wanted.toReversed());
      const substituido = { numero: '2', serie, tipo: '1' };
      const question = loteXml([puro({ numero: 4, serie, substituido })], { numero: `9${serie}` });
      const replacing = await sendLote(service.address, asked(forma, question));
      assert.equal(replacing.situacao, '4', replacing.documento);

      const numero = first(await ask(forma, 'ConsultarNfsePorRps', porRpsXml(1, serie)), 'Numero')!;
      const cancelled = await ask(forma, 'CancelarNfse', cancelamentoXml(numero));
      assert.equal(first(cancelled, 'Sucesso'), 'true');
      await until(async () => {
        const all = await ask(forma, 'ConsultarNfse', consultaXml(''));
        const here = all.split('<CompNfse>').filter((one) => one.includes(`<Serie>${serie}</Serie>`));
        const has = (name: string): number => here.filter((one) => one.includes(`<${name}`)).length;
        return has('NfseCancelamento') === 2 && has('NfseSubstituicao ') === 1 ? true : undefined;
      }, 'the cancellation of a note and the replacement of another');

      await ask(forma, 'ConsultarNfse', consultaXml('<Tomador><CpfCnpj><Cpf>11144477735</Cpf></CpfCnpj></Tomador>'));
      for (const [operacao, refused] of [
        ['RecepcionarLoteRps', loteXml([puro({ numero: 9, serie })], { quantidade: 2 })],
        ['ConsultarSituacaoLoteRps', porProtocolo('ConsultarSituacaoLoteRpsEnvio', '123')],
        ['ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', '123')],
        ['ConsultarNfsePorRps', porRpsXml(99, serie)],
        ['ConsultarNfse', consultaXml('', '04105382000129')],
        ['CancelarNfse', cancelamentoXml('999')],
      ] as const) {
        assert.ok(first(await ask(forma, operacao, refused), 'Codigo') !== undefined, operacao);
      }
      const wrong = [1, 2].map((one) => puro({ numero: 10 + one, serie, item: '99.99', natureza: '5' }));
      const lost = await sendLote(service.address, asked(forma, loteXml(wrong, { numero: `8${serie}` })));
      assert.equal(lost.situacao, '3');
      const why = await ask(forma, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', lost.protocolo));
      assert.equal(first(why, 'Codigo'), 'E30');
      assertFit();
    });

    test(`of a note of every kind, in the shape of ${forma}; of the schema as published the signature alone is missing`, () => {
      const namespace = forma === 'abrasf' ? ABRASF : `${SPEEDGOV}consultar_nfse_envio_v1.xsd`;
      const modelo = modeloOf(namespace);
      const notas = issuedNotas().flatMap((infNfse) => {
        const nota = {
          infNfse,
          chave: EXAMPLE_CHAVE,
          codigoVerificacao: '123456789',
          emissao: '2026-10-05T10:15:30',
        };
        const em = { em: '2026-10-06T10:15:30', codigo: '1' };
        // The model's query needs a CNPJ.
        if (infNfse.children.some(({ children }) => children.some(({ name }) => name === 'CPF'))) return [];
        return [undefined, { ...em, substituta: undefined }, { ...em, substituta: EXAMPLE_CHAVE }].map((cancelamento) =>
          compNfse({ ...nota, rps: undefined, cancelamento }, modelo),
        );
      });
      assert.ok(notas.length > 600);
      const documento = `<ConsultarNfseResposta xmlns="${modelo.resposta}"><ListaNfse>${notas.join('\n')}</ListaNfse></ConsultarNfseResposta>`;
      assert.deepEqual(faultsOf(ESQUEMAS[forma], documento), []);
      const published = faultsOf(PUBLICADOS[forma], documento);
      assert.ok(published.length >= notas.length);
      for (const one of published) assert.match(one, /Missing child element\(s\)\. Expected is .*Signature/);
    });
  }

  test('a lot of which the national environment refused a part has both halves of the choice, and nothing else is wrong', async () => {
    const { address, pool } = service;
    const lote = loteXml([puro({ numero: 1, serie: '7' }), puro({ numero: 2, serie: '7' })], { numero: '7' });
    const { protocolo } = await sendLote(address, lote);
    // The worker would overwrite this and authorise the note when it settles it later.
    const last = 'select estado from notas order by chave_acesso desc limit 2';
    await until(async () => {
      const { rows } = await pool.query<{ estado: string }>(last);
      return rows.every(({ estado }) => estado === 'autorizada') || undefined;
    }, 'both notes are authorised');
    await pool.query("update notas set estado = 'recusada' where chave_acesso = (select max(chave_acesso) from notas)");
    const { documento } = await call(address, 'ConsultarLoteRps', porProtocolo('ConsultarLoteRpsEnvio', protocolo));
    const [only, ...others] = faultsOf(ESQUEMAS.abrasf, documento);
    assert.match(only!, /ListaMensagemRetorno.*This element is not expected/);
    assert.deepEqual(others, []);
    const halves = [/<ListaNfse>.*<\/ListaNfse>/s, /<ListaMensagemRetorno>.*<\/ListaMensagemRetorno>/s];
    for (const half of halves) assert.deepEqual(faultsOf(ESQUEMAS.abrasf, documento.replace(half, '')), []);
  });
});

describe('the request of a cancellation in its answer', SKIP, () => {
  const cancel = async (turn: number, bend: (documento: string) => string): Promise<string> => {
    const done = await sendLote(service.address, loteXml([puro({ numero: turn, serie: '5' })], { numero: `5${turn}` }));
    const question = inSpeedGov(cancelamentoXml(first(done.documento, 'Numero')!));
    const { documento } = await call(service.address, 'CancelarNfse', bend(question));
    assert.deepEqual(faultsOf(ESQUEMAS.speedgov, documento), [], documento);
    return documento;
  };

  test('is as it was received where it is what the schema has', async () => {
    assert.match(
      await cancel(1, (one) => one),
      /<Pedido><p1:InfPedidoCancelamento xmlns:p1="[^"]+tipos_v1\.xsd" Id="cancela/,
    );
  });

  test('is written anew where its order or its namespaces are others', async () => {
    const own = /<Pedido><InfPedidoCancelamento><IdentificacaoNfse><Numero>\d+<\/Numero><Cnpj>/;
    assert.match(
      await cancel(2, (one) => one.replace(/(<p1:Numero>.*<\/p1:Numero>)(<p1:Cnpj>.*<\/p1:Cnpj>)/, '$2$1')),
      own,
    );
    assert.match(await cancel(3, (one) => one.replaceAll('p1:', 'p:')), own);
  });
});

describe('the namespaces of an answer', () => {
  test('follow those of the question', () => {
    for (const { envio, resposta, tipos } of [
      ...Object.keys(DOCUMENTOS).map((stem) => ({
        envio: `${SPEEDGOV}${stem}_envio_v1.xsd`,
        resposta: `${SPEEDGOV}${stem}_resposta_v1.xsd`,
        tipos: `${SPEEDGOV}tipos_v1.xsd`,
      })),
      ...[ABRASF, 'http://www.abrasf.org.br/nfse.xsd', '', 'urn:outro_envio'].map((one) => ({
        envio: one,
        resposta: one,
        tipos: one,
      })),
    ]) {
      assert.deepEqual(modeloOf(envio), { resposta, tipos });
    }
  });

  test('follow those of a question that does not read, as far as its first tag shows them', SKIP, async () => {
    for (const forma of FORMAS) {
      const question = asked(forma, loteXml([puro({ numero: 1, serie: '8', discriminacao: 'Aulas & cia' })]));
      for (const broken of [
        question,
        question.slice(0, -5),
        question.replace('</', '<'),
        `<?xml version="1.0"?>\n${question}`,
      ]) {
        const { documento } = await call(service.address, 'RecepcionarLoteRps', broken);
        assert.equal(first(documento, 'Codigo'), 'E160', documento);
        assert.deepEqual(faultsOf(ESQUEMAS[forma], documento), [], documento);
      }
    }
  });

  test('what stands right in the answer has its namespace, and the rest the one of the contents', async () => {
    await sendLote(service.address, loteXml([puro({ numero: 1, serie: '6' })], { numero: '6' }));
    const { documento } = await call(service.address, 'ConsultarNfsePorRps', inSpeedGov(porRpsXml(1, '6')));
    const start = `<ConsultarNfseRpsResposta xmlns="${SPEEDGOV}consultar_nfse_rps_resposta_v1.xsd"><CompNfse><Nfse xmlns="${SPEEDGOV}tipos_v1.xsd"><InfNfse Id="NFS`;
    assert.ok(documento.startsWith(start), documento);
    const none = await call(service.address, 'ConsultarNfsePorRps', inSpeedGov(porRpsXml(99, '6')));
    assert.match(
      none.documento,
      /_resposta_v1\.xsd"><ListaMensagemRetorno xmlns="http:\/\/ws\.speedgov\.com\.br\/tipos_v1\.xsd"><MensagemRetorno><Codigo>E4</,
    );
  });
});
