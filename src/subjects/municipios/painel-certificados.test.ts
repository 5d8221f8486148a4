/** The certificate of the municipality by the console: sent, tried against the simulator, put to use beside the old one, and deleted. */
import assert from 'node:assert/strict';
import { randomBytes, X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, beforeEach, describe, test } from 'node:test';
import { assertAccessible, assertFits } from '../../../test/support/axe.ts';
import { openBrowser } from '../../../test/support/browser.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { nfseHere } from '../../../test/support/cli.ts';
import { freshFolder, openssl } from '../../../test/support/openssl.ts';
import {
  enter,
  enterInBrowser,
  makeUsuario,
  type Pessoa,
  type Shown,
  startTestPainel,
} from '../../../test/support/painel.ts';
import { startTestService } from '../../../test/support/service.ts';
import { controle, type Holder, montarPalco, simuladorAqui } from '../../../test/support/simulador.ts';
import type { World } from '../../base/world/world.ts';
import { openPfxApart } from '../../documents/pfx-apart.ts';
import { BRASILIA, brazilianMoment, MINUTE_MS, momentIn } from '../../fiscal/moment.ts';
import { Transmissions } from '../../wiring/adn-access.ts';

const silent: World['log'] = { info: () => undefined, warn: () => undefined, error: () => undefined };
const transmissions = new Transmissions(silent);
onEnd(() => transmissions.close());
const service = await startTestService({
  worker: false,
  clock: { now: Date.now() },
  transmission: transmissions.of,
});
const painel = await startTestPainel(service);
const { store, pool, world, clock, logged } = service;
const { certificados } = painel.world;
const palco = await montarPalco();
const simulador = await simuladorAqui(palco);
const folder = freshFolder();
const SENHA = 'três tristes tigres';
/** Rio de Janeiro has no access to the ADN yet. */
const [TENANT, NOVO] = ['exemplo', 'novo'];
const PATH = `/m/${TENANT}/municipio/certificados`;

const chaves = { certificado: palco.municipio.certFile, chave: palco.municipio.keyFile };
const adn = { url: simulador.address, ca: palco.caFile, chaves };
await store.municipios.create({ tenant: TENANT, ambiente: 'producao', codigoIbge: '3550308', adn }, clock.now);
await store.municipios.create({ tenant: NOVO, ambiente: 'producao', codigoIbge: '3304557' }, clock.now);

let made = 0;
/** A PKCS#12 of openssl. */
function pfxOf({ certFile, keyFile }: Pick<Holder, 'certFile' | 'keyFile'>, ...options: readonly string[]): Buffer {
  made += 1;
  const out = path.join(folder, `${made}.pfx`);
  const key = options.includes('-nokeys') ? [] : ['-inkey', keyFile];
  openssl('pkcs12', '-export', '-in', certFile, ...key, '-out', out, '-passout', `pass:${SENHA}`, ...options);
  return readFileSync(out);
}

/** The ADN takes both; the holder of the second one has another CNPJ. */
const { renovado: renewed, outro: foreign } = palco;

const idOf = ({ signer }: Holder): string => signer.certificate.fingerprint.slice(0, 16);

let chefe: Pessoa;
let operadora: Pessoa;
before(async () => {
  chefe = await enter(
    painel,
    await makeUsuario(painel, 'clara', { [TENANT]: 'administracao', [NOVO]: 'administracao' }),
  );
  operadora = await enter(painel, await makeUsuario(painel, 'olga', { [TENANT]: 'operacao' }));
});
beforeEach(() => pool.query('delete from contagens'));

async function send(bytes: Uint8Array, senha = SENHA, where = PATH): Promise<Shown> {
  await chefe.open(where);
  return chefe.send(`${where}/enviar`, { pfx: new File([new Uint8Array(bytes)], 'a1.pfx'), senha });
}

async function post(where: string, fields: Readonly<Record<string, string>> = {}): Promise<Shown> {
  await chefe.open(PATH);
  return chefe.send(`${PATH}/${where}`, fields);
}

/** Both steps of the use, as the buttons of the pages send them. */
async function use(id: string, motivo: string, where = PATH, by = chefe): Promise<Shown> {
  await by.open(where);
  const second = await by.send(`${where}/${id}/usar`, { motivo });
  assert.equal(second.status, 200, second.html);
  assert.match(second.html, /Usar este certificado\?/);
  return by.confirm();
}

const keptIn = (tenant: string): readonly string[] => {
  const own = path.join(certificados, tenant);
  return existsSync(own) ? readdirSync(own) : [];
};
const signerOf = async (tenant: string): Promise<string | undefined> => {
  const given = await world.transmission((await store.municipios.readFresh(tenant))!);
  return 'problem' in given ? given.problem : given.signer?.certificate.fingerprint;
};
const actsOf = async () => store.atos.list(TENANT, { objeto: 'municipio' }, 100);

describe('a file that is no certificate of the municipality is refused in words, and nothing is kept', () => {
  const cases: readonly (readonly [what: string, bytes: () => Uint8Array, said: RegExp, senha?: string])[] = [
    ['a wrong password', () => pfxOf(palco.municipio), /A senha informada não abre o PKCS#12/, 'outra senha'],
    ['no password', () => pfxOf(palco.municipio), /Falta a senha com que o certificado foi exportado/, ''],
    ['an expired certificate', () => pfxOf(palco.vencido), /O certificado venceu em/],
    ['noise', () => randomBytes(3_000), /ão é um PKCS#12/],
    ['an empty file', () => new Uint8Array(), /Escolha o arquivo|está vazio/],
    ['a cut file', () => pfxOf(palco.municipio).subarray(0, 900), /incompleto/],
    ['a file without key', () => pfxOf(palco.municipio, '-nokeys'), /não traz chave privada/],
    ['a PEM', () => readFileSync(palco.municipio.certFile), /é um PEM/],
  ];
  for (const [what, bytes, said, senha] of cases) {
    test(what, async () => {
      const page = await send(bytes(), senha);
      assert.equal(page.status, 422);
      assert.match(page.html, said);
      assert.ok(!page.html.includes('--'), 'nobody at a desk knows options');
      assert.deepEqual(keptIn(TENANT), []);
    });
  }

  test('ten megabytes', async () => {
    const page = await send(new Uint8Array(10 * 1024 * 1024));
    assert.equal(page.status, 413);
    assert.deepEqual(keptIn(TENANT), []);
  });

  test('a key of another kind', async () => {
    const key = path.join(folder, 'ec.key');
    const cert = path.join(folder, 'ec.pem');
    openssl('genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out', key);
    openssl('req', '-new', '-x509', '-key', key, '-subj', '/CN=MUNICIPIO', '-days', '30', '-out', cert);
    const page = await send(pfxOf({ certFile: cert, keyFile: key }));
    assert.match(page.html, /se faz com RSA/);
  });

  test('a key that is too short', async () => {
    const [keyFile, certFile] = ['rsa-1024.key', 'rsa-1024.pem'].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    openssl('genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024', '-out', keyFile);
    openssl('req', '-new', '-x509', '-key', keyFile, '-subj', '/CN=MUNICIPIO', '-days', '30', '-out', certFile);
    const page = await send(pfxOf({ certFile, keyFile }));
    assert.match(page.html, /A chave do certificado tem 1024 bits; o mínimo é 2048/);
    assert.deepEqual(keptIn(TENANT), []);
  });
});

test('two files are opened at a time; the others wait for another minute', async () => {
  const pfx = pfxOf(palco.municipio);
  const opened = await Promise.all(Array.from({ length: 5 }, () => openPfxApart(pfx, SENHA)));
  const refused = opened.flatMap((one) => ('problem' in one ? [one.problem] : []));
  assert.equal(refused.length, 3);
  assert.match(refused[0]!, /outros certificados estão sendo abertos agora/);
  assert.ok('chave' in (await openPfxApart(pfx, SENHA)), 'and the next one is opened');
});

test('a certificate with hostile names is shown as text, in the console and at a terminal', async () => {
  const [keyFile, certFile] = ['hostil.key', 'hostil.pem'].map((name) => path.join(folder, name)) as [string, string];
  openssl('genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out', keyFile);
  const before = keptIn(TENANT);
  const subject = `/CN=<img src=x onerror=alert(1)>\u001b[31mVERMELHO\u009b2J`;
  openssl('req', '-new', '-x509', '-utf8', '-key', keyFile, '-subj', subject, '-days', '30', '-out', certFile);
  await send(pfxOf({ certFile, keyFile }));
  const { html } = await chefe.open(PATH);
  assert.match(html, /&lt;img src=x onerror=alert\(1\)&gt;/);
  assert.ok(!html.includes('<img'));
  const options = ['--adn', 'https://adn.exemplo', '--adn-certificado', certFile, '--adn-chave', keyFile];
  const made = await nfseHere(['municipio', 'criar', 'hostil', '--ibge', '4106902', ...options], pool);
  assert.equal(made.code, 0, made.err);
  const { out, err } = await nfseHere(['municipio', 'mostrar', 'hostil'], pool);
  assert.match(out, /VERMELHO/, err);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  assert.doesNotMatch(out + err, /[\u001b\u0080-\u009f]/);
  const [id] = keptIn(TENANT).filter((one) => !before.includes(one));
  await post(`${id}/apagar`, { motivo: 'nomes hostis' });
});

test('a role below the administrator neither sees nor changes certificates', async () => {
  assert.equal((await operadora.open(PATH)).status, 403);
  await operadora.open(`/m/${TENANT}/municipio`);
  const page = await operadora.send(`${PATH}/enviar`, {
    pfx: new File([new Uint8Array(pfxOf(palco.municipio))], 'a1.pfx'),
    senha: SENHA,
  });
  assert.equal(page.status, 403);
  assert.deepEqual(keptIn(TENANT), []);
});

describe('a certificate beside the one in use', () => {
  test('is kept in files that only the service reads, without its password, and changes nothing yet', async () => {
    const page = await send(pfxOf(renewed, '-legacy', '-certpbe', 'PBE-SHA1-RC2-40', '-keypbe', 'PBE-SHA1-3DES'));
    assert.match(page.html, /foi guardado, ao lado do que está em uso/);
    assert.match(page.html, /CNPJ <span class="inteiro">99\.999\.999\/0001-91<\/span>/);
    const moment = brazilianMoment(
      momentIn(BRASILIA, statSync(path.join(certificados, TENANT, idOf(renewed), 'certificado.pem')).mtimeMs),
    );
    assert.ok(page.html.includes(`enviado em ${moment}`), moment);
    assert.ok(page.html.includes(new X509Certificate(renewed.cert).serialNumber.replace(/^0+/, '')), 'its number');
    assert.ok(page.html.includes(`<code>${palco.municipio.certFile}</code>`), 'the place of the one in use');
    assert.match(page.html, /faltam 1(?:79|80) dias/);
    const own = path.join(certificados, TENANT, idOf(renewed));
    for (const one of [certificados, path.join(certificados, TENANT), own]) {
      assert.equal(statSync(one).mode & 0o777, 0o700, one);
    }
    assert.deepEqual(readdirSync(own).toSorted(), ['certificado.pem', 'chave.pem']);
    for (const name of readdirSync(own)) assert.equal(statSync(path.join(own, name)).mode & 0o777, 0o600, name);
    assert.ok(!readFileSync(path.join(own, 'chave.pem'), 'utf8').includes(SENHA));
    assert.equal(await signerOf(TENANT), palco.municipio.signer.certificate.fingerprint);
  });

  test('is kept once, though it be sent again', async () => {
    const file = path.join(certificados, TENANT, idOf(renewed), 'chave.pem');
    const before = statSync(file).mtimeMs;
    assert.match((await send(pfxOf(renewed))).html, /já estava guardado/);
    assert.deepEqual(keptIn(TENANT), [idOf(renewed)]);
    assert.equal(statSync(file).mtimeMs, before);
  });

  test('is tried: it signs a probe and connects, and nothing is sent', async () => {
    const page = await post(`${idOf(renewed)}/testar`);
    assert.equal(page.status, 200);
    assert.match(page.html, /A chave assinou uma prova, que confere com o certificado/);
    assert.match(page.html, /aceitou a conexão com o certificado/);
    const { body } = await controle(simulador, '/documentos');
    assert.deepEqual(body.documentos, []);
    assert.equal(await signerOf(TENANT), palco.municipio.signer.certificate.fingerprint);
  });

  test('that the ADN does not take is told as such', async () => {
    await send(pfxOf(palco.estranho));
    const page = await post(`${idOf(palco.estranho)}/testar`);
    assert.match(page.html, /O município não alcança o ADN/);
    await post(`${idOf(palco.estranho)}/apagar`, { motivo: 'de outra autoridade' });
    assert.deepEqual(keptIn(TENANT), [idOf(renewed)]);
  });

  test('of another CNPJ is refused with the CNPJ of the municipality: by the test, and with any reason', async () => {
    const sent = await send(pfxOf(foreign));
    const said = /assina com o CNPJ 99\.999\.999\/0001-91, e este certificado é do CNPJ 88\.888\.888\/0001-91/;
    assert.match(sent.html, said);
    const tested = await post(`${idOf(foreign)}/testar`);
    assert.match(tested.html, /O município não alcança o ADN/);
    assert.match(tested.html, said);
    assert.ok(!tested.html.includes('aceitou a conexão'), 'it is not shown to the ADN');
    const used = await post(`${idOf(foreign)}/usar`, { motivo: 'fusão das secretarias' });
    assert.equal(used.status, 422);
    assert.match(used.html, said);
    assert.equal(await signerOf(TENANT), palco.municipio.signer.certificate.fingerprint);
    assert.equal(await store.circuitos.find(TENANT), undefined, 'a try beside is no failure of the municipality');
    await post(`${idOf(foreign)}/apagar`, { motivo: 'de outra empresa' });
  });

  test('is put to use after a second step, and signs from then on, without a restart', async () => {
    await chefe.open(PATH);
    const second = await chefe.send(`${PATH}/${idOf(renewed)}/usar`, { motivo: 'vence' });
    assert.match(second.html, /<dd>CNPJ <span class="inteiro">99\.999\.999\/0001-91<\/span><\/dd>/);
    assert.equal(await signerOf(TENANT), palco.municipio.signer.certificate.fingerprint, 'not yet');
    const other = await chefe.confirm({ motivo: 'outro motivo' });
    assert.match(other.html, /Usar este certificado\?/, 'another reason was not shown');
    const back = await chefe.confirm({ voltar: '1' });
    assert.match(back.html, /<h2>Ao lado<\/h2>/);
    assert.match(back.html, /value="outro motivo"/);
    assert.equal(await signerOf(TENANT), palco.municipio.signer.certificate.fingerprint, 'not yet');
    const used = await use(idOf(renewed), 'o de antes vence');
    assert.equal(used.status, 200);
    assert.ok(used.html.includes(`o de antes continua em ${palco.municipio.certFile}`), used.html);
    assert.equal(await signerOf(TENANT), renewed.signer.certificate.fingerprint);
    const settings = await store.municipios.readFresh(TENANT);
    assert.equal(settings?.adn?.url, simulador.address);
    assert.equal(settings?.adn?.ca, palco.caFile);
    assert.ok(existsSync(palco.municipio.keyFile), 'the old one stays');
  });

  test('is told when the one in use is sent again', async () => {
    const again = await send(pfxOf(renewed));
    assert.equal(again.status, 422);
    assert.match(again.html, /é o que já está em uso/);
  });

  test('and in use, is not deleted; nor does an act name files elsewhere', async () => {
    assert.match((await post(`${idOf(renewed)}/apagar`, { motivo: 'engano' })).html, /está em uso/);
    for (const id of ['..', '%2e%2e%2f%2e%2e', '0000000000000000', `${NOVO}`]) {
      const page = await post(`${id}/usar`, { motivo: 'ataque' });
      assert.ok([404, 422].includes(page.status), `${id} ${page.status}`);
    }
    assert.deepEqual(keptIn(TENANT), [idOf(renewed)]);
    assert.equal(await signerOf(TENANT), renewed.signer.certificate.fingerprint);
  });

  test('the one of before comes back by the same way', async () => {
    await send(pfxOf(palco.municipio));
    const back = await use(idOf(palco.municipio), 'volta');
    assert.match(back.html, /em uso a partir de agora; o de antes continua ao lado/);
    assert.equal(await signerOf(TENANT), palco.municipio.signer.certificate.fingerprint);
  });
});

test('acts are in the trail with who and why; no password and no key is in it, in the log or in the database', async () => {
  const acts = await actsOf();
  const acoes = acts.map(({ acao }) => acao);
  for (const acao of [
    'certificado enviado',
    'conexão com o ADN testada',
    'certificado trocado',
    'certificado apagado',
  ]) {
    assert.ok(acoes.includes(acao), acao);
  }
  const trocado = acts.find(({ motivo }) => motivo === 'o de antes vence');
  assert.deepEqual([trocado?.quem, trocado?.via, trocado?.acao], ['clara', 'painel', 'certificado trocado']);
  for (const [side, { cert }] of [
    [trocado?.antes, palco.municipio],
    [trocado?.depois, renewed],
  ] as const) {
    const serie = new X509Certificate(cert).serialNumber.replace(/^0+/, '');
    const named = (side as Readonly<Record<string, string>>)['certificado do município'];
    assert.match(named!, new RegExp(`CNPJ 99\\.999\\.999/0001-91, até \\d\\d/\\d\\d/\\d{4}, série ${serie}$`));
  }
  const { rows } = await pool.query('select * from municipios');
  const told = JSON.stringify([acts, logged, rows]);
  const body = renewed.key.split('\n')[5]!;
  for (const secret of [SENHA, 'outra senha', 'PRIVATE KEY', body]) assert.ok(!told.includes(secret), secret);
});

test('a municipality without access to the ADN gets the national address with its first certificate', async () => {
  const own = `/m/${NOVO}/municipio/certificados`;
  const page = await send(pfxOf(palco.municipio), SENHA, own);
  assert.match(page.html, /passa a transmitir a <code>https:\/\/adn\.nfse\.gov\.br<\/code>/);
  const second = await chefe.send(`${own}/${idOf(palco.municipio)}/usar`, { motivo: 'primeiro' });
  assert.match(second.html, /<b>CNPJ 99\.999\.999\/0001-91<\/b>.*É o do município\?/s);
  const used = await use(idOf(palco.municipio), 'primeiro', own);
  assert.match(used.html, /em uso a partir de agora/);
  const { adn: access } = (await store.municipios.readFresh(NOVO))!;
  assert.equal(access?.url, 'https://adn.nfse.gov.br');
  assert.equal(await signerOf(NOVO), palco.municipio.signer.certificate.fingerprint);
});

test('files are opened a few times a minute', async () => {
  const answers: string[] = [];
  await pool.query('delete from contagens');
  for (let sent = 0; sent < 11; sent += 1) {
    answers.push((await send(randomBytes(100))).html);
    // Counters dated an hour ahead are not refilled on a slow machine.
    if (sent === 0) await pool.query('update contagens set em = em + 3600');
  }
  assert.match(answers[9]!, /ão é um PKCS#12/);
  assert.match(answers[10]!, /envios demais/);
});

const browser = await openBrowser();
const PICTURES = process.env['NFSE_TEST_IMAGENS'];

describe('in a browser', { skip: browser === undefined ? 'there is no Chromium' : false }, () => {
  test('a certificate is sent by its file, and the page serves everybody', async () => {
    clock.now += MINUTE_MS;
    const page = await browser!.newPage(true);
    await enterInBrowser(page, painel, await makeUsuario(painel, 'rui', { [TENANT]: 'administracao' }));
    const file = path.join(folder, 'pelo-navegador.pfx');
    openssl(
      'pkcs12',
      '-export',
      '-in',
      palco.pessoa.certFile,
      '-inkey',
      palco.pessoa.keyFile,
      '-out',
      file,
      '-passout',
      `pass:${SENHA}`,
    );
    await page.open(`${painel.origin}${PATH}`);
    await page.choose('#campo-pfx', file);
    await page.fill('#campo-senha', SENHA);
    await page.click('form[action$="/enviar"] button');
    await page.until(`document.body.innerText.includes('foi guardado')`);
    for (const width of [390, 1_280]) {
      for (const isDark of [false, true]) {
        await page.resize(width, 2_600);
        await page.dark(isDark);
        await page.open(`${painel.origin}${PATH}`);
        const called = `certificados ${width} ${isDark}`;
        await assertFits(page, called);
        await assertAccessible(page, called);
        if (PICTURES !== undefined) await page.picture(path.join(PICTURES, `certificados-${width}-${isDark}.png`));
      }
    }
    assert.deepEqual(page.complaints, []);
  });

  test('it is renewed without scripts: the new one beside the old, tried, and in use from then on', async () => {
    clock.now += MINUTE_MS;
    await pool.query('delete from contagens');
    const before = await signerOf(TENANT);
    const next = [palco.municipio, renewed].find(({ signer }) => signer.certificate.fingerprint !== before)!;
    const page = await browser!.newPage(true);
    await page.scripts(false);
    await enterInBrowser(page, painel, await makeUsuario(painel, 'iara', { [TENANT]: 'administracao' }));
    const file = path.join(folder, 'renovado.pfx');
    writeFileSync(file, pfxOf(next));
    await page.open(`${painel.origin}${PATH}`);
    await page.choose('#campo-pfx', file);
    await page.fill('#campo-senha', SENHA);
    await page.click('form[action$="/enviar"] button');
    await page.until(`document.body.innerText.includes('guardado')`);
    assert.equal(await signerOf(TENANT), before);
    await page.click(`form[action$="/${idOf(next)}/testar"] button`);
    await page.until(`document.body.innerText.includes('O município alcança o ADN.')`);
    await page.fill(`#campo-motivo-usar-${idOf(next)}`, 'o de antes vence neste mês');
    await page.click(`form[action$="/${idOf(next)}/usar"] button`);
    await page.until(`document.body.innerText.includes('Usar este certificado?')`);
    await assertFits(page, 'certificados segundo passo');
    if (PICTURES !== undefined) await page.picture(path.join(PICTURES, 'certificados-segundo-passo.png'));
    await page.click('button.grave');
    await page.until(`document.body.innerText.includes('em uso a partir de agora')`);
    assert.equal(await signerOf(TENANT), next.signer.certificate.fingerprint);
    const trocado = (await actsOf()).find(({ motivo }) => motivo === 'o de antes vence neste mês');
    assert.deepEqual([trocado?.quem, trocado?.acao], ['iara', 'certificado trocado']);
  });
});
