/**
 * The municipality in the console and by command: its settings, the roles that may change them, and the test of the ADN with the simulator.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { nfseHere } from '../../../test/support/cli.ts';
import { enter, makeUsuario, type Pessoa, startTestPainel } from '../../../test/support/painel.ts';
import { ownPort } from '../../../test/support/ports.ts';
import { startTestService } from '../../../test/support/service.ts';
import { controle, type Holder, montarPalco, simuladorAqui } from '../../../test/support/simulador.ts';
import { alterMunicipio } from '../../base/world/municipios.ts';
import { SETTINGS } from '../../fiscal/settings.ts';
import { testAdn } from './testar-adn.ts';

const service = await startTestService({ worker: false, clock: { now: Date.now() } });
const painel = await startTestPainel(service);
const { store, pool, world, clock } = service;
const palco = await montarPalco();
const simulador = await simuladorAqui(palco);
const TENANT = 'exemplo';
const PATH = `/m/${TENANT}/municipio`;
const BY = { quem: 'teste', via: 'comando' } as const;

async function open(tenant: string, holder: Holder, url = simulador.address): Promise<void> {
  const chaves = { certificado: holder.certFile, chave: holder.keyFile };
  const adn = { url, ca: palco.caFile, chaves };
  const made = { tenant, ambiente: 'producao', codigoIbge: IBGE[tenant], adn } as const;
  assert.ok(await store.municipios.create(made, clock.now), tenant);
}

/** São Paulo, Rio de Janeiro, Belo Horizonte, Curitiba, Recife. */
const IBGE: Readonly<Record<string, string>> = {
  exemplo: '3550308',
  vencido: '3304557',
  estranho: '3106200',
  calado: '4106902',
  outro: '2611606',
};

await open(TENANT, palco.municipio);

let chefe: Pessoa;
let leitor: Pessoa;
let operadora: Pessoa;
before(async () => {
  chefe = await enter(painel, await makeUsuario(painel, 'clara', { [TENANT]: 'administracao' }));
  leitor = await enter(painel, await makeUsuario(painel, 'leo', { [TENANT]: 'leitura' }));
  operadora = await enter(painel, await makeUsuario(painel, 'olga', { [TENANT]: 'operacao' }));
});

async function actsOf(acao: string) {
  return (await store.atos.list(TENANT, { objeto: 'municipio' }, 50)).filter((one) => one.acao === acao);
}

describe('the page', () => {
  test('shows every setting with its help, the certificate and in whom it is trusted', async () => {
    const { html, status } = await leitor.open(PATH);
    assert.equal(status, 200);
    assert.match(html, /<h1>São Paulo\/SP<\/h1>/);
    for (const [, { title }] of SETTINGS) assert.ok(html.toLowerCase().includes(`>${title.toLowerCase()}</td>`), title);
    assert.match(html, /municipio de teste/i);
    assert.match(html, /faltam 179 dias|faltam 180 dias/);
    assert.match(html, /AC de Ensaio/);
    assert.ok(!html.includes('PRIVATE KEY'));
    assert.ok(!html.includes(`${PATH}/alterar`), 'who reads has nothing to change');
    assert.ok(!html.includes('testar-adn'));
  });

  test('changes rules and limits, with who and why in the trail', async () => {
    const page = await chefe.open(`${PATH}/alterar`);
    assert.match(page.html, /name="limitePrestador"/);
    for (const name of ['adnUrl', 'adnChave', 'ancoras', 'ambiente', 'codigoIbge', 'fechado']) {
      assert.ok(!page.html.includes(`name="${name}"`), `${name} is for who runs the machine`);
    }
    const changed = await chefe.send(`${PATH}/alterar`, {
      limitePrestador: '77',
      regrasNacionais: 'avisar',
      exigeNumero: 'sim',
      motivo: 'decreto 12',
    });
    assert.match(changed.html, /O município foi alterado/);
    const { rows } = await pool.query(
      'select limite_prestador, regras_nacionais, exige_numero from municipios where tenant = $1',
      [TENANT],
    );
    assert.deepEqual(rows, [{ limite_prestador: 77, regras_nacionais: 'avisa', exige_numero: true }]);
    const act = (await actsOf('alterado')).find(({ motivo }) => motivo === 'decreto 12');
    assert.deepEqual([act?.quem, act?.via, act?.motivo], ['clara', 'painel', 'decreto 12']);
    assert.deepEqual((act!.depois as Record<string, string>)['por prestador'], '77 documentos por minuto');
    assert.equal(Object.keys(act!.depois as object).length, 3);
  });

  test('what is wrong stands at its field, what was written stays, and nothing is stored', async () => {
    const before = (await actsOf('alterado')).length;
    await chefe.open(`${PATH}/alterar`);
    const wrong = await chefe.send(`${PATH}/alterar`, { limitePrestador: 'muitos', soapNamespace: 'sem endereço' });
    assert.equal(wrong.status, 422);
    assert.match(wrong.html, /id="campo-limitePrestador-erro">Pede um número inteiro/);
    assert.match(wrong.html, /id="campo-soapNamespace-erro">/);
    assert.match(wrong.html, /value="muitos"/);
    assert.ok(!wrong.html.includes('--limite'), 'nobody at a desk knows options');
    assert.equal((await actsOf('alterado')).length, before);
  });

  test('neither a form nor the flow takes paths, addresses or who it is from the console', async () => {
    await chefe.open(`${PATH}/alterar`);
    await chefe.send(`${PATH}/alterar`, { adnChave: '/etc/passwd', ambiente: 'homologacao', codigoIbge: '3304557' });
    const { rows } = await pool.query('select adn_chave, ambiente, codigo_ibge from municipios where tenant = $1', [
      TENANT,
    ]);
    assert.deepEqual(rows, [{ adn_chave: palco.municipio.keyFile, ambiente: 'producao', codigo_ibge: '3550308' }]);
    const asked = { written: { adnChave: palco.outro.keyFile }, without: ['revogados'] } as const;
    const refused = await alterMunicipio(world, TENANT, asked, { quem: 'clara', via: 'painel' });
    assert.ok('problems' in refused);
    assert.deepEqual(
      refused.problems.map(({ campo }) => campo),
      ['revogados', 'adnChave'],
    );
  });
});

describe('the test of the ADN', () => {
  before(async () => open('calado', palco.municipio, `https://localhost:${await ownPort()}`));

  const stepsOf = async (tenant: string): Promise<readonly string[]> => {
    const { passos } = await testAdn(world, tenant, BY);
    return passos.map(({ situacao }) => situacao);
  };

  test('says step by step that all is well, and sends nothing', async () => {
    await operadora.open(PATH);
    const page = await operadora.send(`${PATH}/testar-adn`);
    assert.match(page.html, /O município alcança o ADN\./);
    assert.match(page.html, /Nada foi enviado, e nada mudou lá/);
    const { body } = await controle(simulador, '/documentos');
    assert.deepEqual(body.documentos, []);
    const act = (await actsOf('conexão com o ADN testada')).find(({ via }) => via === 'painel');
    assert.deepEqual([act?.quem, act?.via, act?.depois], ['olga', 'painel', { resultado: 'passou' }]);
  });

  test('a certificate that is past its time is told before anything is asked', async () => {
    await open('vencido', palco.vencido);
    const { passou, passos } = await testAdn(world, 'vencido', BY);
    assert.equal(passou, false);
    assert.deepEqual(
      passos.map(({ situacao }) => situacao),
      ['bom', 'erro', 'nao_feito', 'nao_feito'],
    );
    assert.match(passos[1]!.diz.join(' '), /venceu em/);
  });

  test('a certificate that the ADN does not take is told as such', async () => {
    await open('estranho', palco.estranho);
    assert.deepEqual(await stepsOf('estranho'), ['bom', 'aviso', 'erro', 'nao_feito']);
  });

  test('an address at which nobody is', async () => {
    const { passos } = await testAdn(world, 'calado', BY);
    assert.equal(passos[2]!.situacao, 'erro');
    assert.match(passos[2]!.diz.join(' '), /recusou a conexão/);
  });

  test('the command says the same and ends with its code', async () => {
    const good = await nfseHere(['municipio', 'testar-adn', TENANT], pool);
    assert.equal(good.code, 0, good.err);
    assert.match(good.out, /Consulta +certo/);
    const bad = await nfseHere(['municipio', 'testar-adn', 'calado', '--json'], pool);
    assert.equal(bad.code, 1);
    assert.equal(JSON.parse(bad.out).passos[3].situacao, 'nao_feito');
    const rehearsal = await nfseHere(['municipio', 'testar-adn', 'integracao'], pool);
    assert.equal(rehearsal.code, 1);
    assert.match(rehearsal.out, /Em homologação nada é transmitido/);
  });
});

describe('by command', () => {
  test('a change is in the trail with its reason; a reason alone changes nothing', async () => {
    const none = await nfseHere(['municipio', 'alterar', TENANT, '--motivo', 'nada'], pool);
    assert.equal(none.code, 2);
    const done = await nfseHere(['municipio', 'alterar', TENANT, '--limite-endereco', '9', '--motivo', 'abuso'], pool);
    assert.equal(done.code, 0, done.err);
    const acts = await actsOf('alterado');
    const act = acts.find(({ via }) => via === 'comando');
    assert.equal(act?.motivo, 'abuso');
    assert.deepEqual(Object.keys(act!.depois as object), ['por endereço']);
  });
});

test('a municipality is shown and listed in JSON as well, without a secret', async () => {
  const { out } = await nfseHere(['municipio', 'mostrar', TENANT, '--json'], pool);
  const shown = JSON.parse(out);
  assert.deepEqual([shown.municipio.tenant, shown.municipio.codigoIbge], [TENANT, '3550308']);
  assert.ok(!out.includes('PRIVATE KEY'));
  const list = JSON.parse((await nfseHere(['municipio', 'listar', '--json'], pool)).out);
  assert.ok(list.some(({ tenant }: { tenant: string }) => tenant === TENANT));
});
