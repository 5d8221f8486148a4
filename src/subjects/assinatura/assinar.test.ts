/** `nfse pki` and `nfse assinar` as a user types them; xmlsec1 and openssl read the output. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { before, describe, test } from 'node:test';
import { freshFolder, openssl } from '../../../test/support/openssl.ts';
import { toolOr } from '../../../test/support/tools.ts';
import type { CliWorld } from '../../base/terminal/command.ts';
import { abrasfSignatures } from '../../documents/abrasf-signature.ts';
import { verifyCms } from '../../documents/cms.ts';
import { readXml } from '../../documents/xml.ts';
import { runCli } from '../../doors/cli/cli.ts';

const EXAMPLE = path.resolve(import.meta.dirname, '../../../examples/dps.xml');
const PROVIDER = '11222333000181';

type Said = { readonly code: number; readonly out: string; readonly err: string };

/** The output and the exit code of the program. */
async function nfse(...args: readonly string[]): Promise<Said> {
  let [out, err] = ['', ''];
  const world = {
    out: (text: string) => {
      out += text;
    },
    err: (text: string) => {
      err += text;
    },
    isTerminal: false,
  } as CliWorld;
  const code = await runCli(args, world);
  return { code, out, err };
}

const folder = freshFolder();
const pasta = path.join(folder, 'pki');
const at = (...names: readonly string[]): string => path.join(pasta, ...names);
const pfxOf = (name: string): string[] => ['--pfx', at(`${name}.pfx`), '--senha-arquivo', at('senha.txt')];
/** The same as PEM, which opens faster. */
const signerOf = (name: string): string[] => ['--certificado', at(`${name}.pem`), '--chave', at(`${name}.key`)];

let count = 0;

function fileOf(content: string | Uint8Array): string {
  count += 1;
  const file = path.join(folder, `f${count}`);
  writeFileSync(file, content);
  return file;
}

let told: Said;

before(async () => {
  told = await nfse('pki', '--pasta', pasta, '--cnpj', '11.222.333/0001-81', '--cnpj', '12121212000106');
});

describe('nfse pki', () => {
  test('says what each file is for, and all that it says is there', () => {
    assert.equal(told.code, 0);
    const places = [...told.out.matchAll(/^ {2}(\/\S+)/gm)].map(([, place]) => place!);
    assert.ok(places.length > 15);
    const named = places.flatMap((place) =>
      place.includes('{') ? ['pem', 'key', 'pfx'].map((end) => place.replace(/\{.*\}/, end)) : [place],
    );
    for (const place of named) assert.ok(statSync(place), place);
    const files = readdirSync(pasta, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
    const known = (file: string): boolean => named.some((one) => file === one || file.startsWith(`${one}/`));
    for (const one of files) assert.ok(known(path.join(one.parentPath, one.name)), `${one.name} is not explained`);
    for (const cnpj of [PROVIDER, '12121212000106']) assert.match(told.out, new RegExp(`prestador, CNPJ ${cnpj}`));
  });

  test('prints no password and no key', () => {
    assert.ok(!told.out.includes(readFileSync(at('senha.txt'), 'utf8').trim()));
    assert.doesNotMatch(told.out, /PRIVATE KEY/);
  });

  test('leaves a folder in use alone', async () => {
    await assert.rejects(nfse('pki', '--pasta', pasta), /já tem arquivos/);
  });
});

describe('nfse assinar, a DPS', () => {
  const xmlsec1 = toolOr('xmlsec1', 'xmlsec1');

  function xmlsecVerifies(file: string): boolean {
    const trust = [
      '--trusted-pem',
      at('ancoras', 'ac-raiz-de-teste.pem'),
      '--untrusted-pem',
      at('ancoras', 'ac-de-teste.pem'),
    ];
    return spawnSync(xmlsec1!, ['--verify', '--id-attr:Id', 'infDPS', ...trust, file]).status === 0;
  }

  test('comes out signed, with nothing else on the way', async () => {
    const { code, out, err } = await nfse('assinar', EXAMPLE, ...pfxOf(`prestadores/${PROVIDER}`));
    assert.deepEqual([code, err], [0, '']);
    assert.equal(out.replace(/<Signature.*<\/Signature>/s, ''), readFileSync(EXAMPLE, 'utf8'));
    if (xmlsec1 === undefined) return;
    assert.ok(xmlsecVerifies(fileOf(out)));
    assert.ok(!xmlsecVerifies(fileOf(out.replace('1000.00', '1000.01'))));
  });

  test('with PEM files, into a file', async () => {
    const saida = path.join(folder, 'assinada.xml');
    const { code, out, err } = await nfse('assinar', EXAMPLE, ...signerOf(`prestadores/${PROVIDER}`), '--saida', saida);
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, new RegExp(`Documento assinado em ${saida}`));
    if (xmlsec1 !== undefined) assert.ok(xmlsecVerifies(saida));
  });

  test('warns of a certificate that would be refused, and signs', async () => {
    const warning = async (name: string): Promise<string> => {
      const { code, out, err } = await nfse('assinar', EXAMPLE, ...signerOf(name));
      assert.equal(code, 0);
      assert.match(out, /<SignatureValue>/);
      return err;
    };
    assert.match(await warning('recusados/vencido'), /^Aviso: o certificado venceu em \d\d\/\d\d\/\d{4} /);
    assert.match(await warning('recusados/ainda-nao-vale'), /só vale a partir de/);
    assert.match(await warning('recusados/outro-documento'), /é do CNPJ 88.*prestador do documento é 11/);
    assert.match(await warning('prestadores/11144477735'), /é do CPF \*\*\*\.444\.777-/);
    assert.equal(await warning('recusados/revogado'), '');
  });

  test('signs again what was signed', async () => {
    const first = await nfse('assinar', EXAMPLE, ...signerOf('recusados/vencido'));
    const { out, err } = await nfse('assinar', fileOf(first.out), ...signerOf(`prestadores/${PROVIDER}`));
    assert.equal(err, 'Aviso: a assinatura que havia foi substituída.\n');
    assert.equal(out.match(/<SignatureValue>/g)?.length, 1);
    if (xmlsec1 !== undefined) assert.ok(xmlsecVerifies(fileOf(out)));
  });
});

describe('nfse assinar, a document of the legacy port', () => {
  const site = path.resolve(import.meta.dirname, '../../../docs/site');
  const lote = readFileSync(path.join(site, 'exemplos/lote-rps.xml'), 'utf8');
  const pedido = readFileSync(path.join(site, 'exemplos/cancelamento-nfse.xml'), 'utf8');
  const xmlsec1 = toolOr('xmlsec1', 'xmlsec1');

  /** Both the legacy port and xmlsec1 accept the signature. */
  function assertGood(xml: string, parent: string, signed: string): void {
    const reading = readXml(Buffer.from(xml));
    assert.ok('root' in reading);
    const { root } = reading;
    const within = root.name === parent ? root : root.children.find(({ name }) => name === parent)!;
    const element = within.children.find(({ name }) => name === signed)!;
    const checked = abrasfSignatures(reading, { allowsSha1: false }).beside(within, element);
    assert.ok(checked !== undefined && 'certificate' in checked, JSON.stringify(checked));
    assert.equal(checked.check(), undefined);
    assert.equal(checked.certificate.holder?.documento, PROVIDER);
    if (xmlsec1 === undefined) return;
    const trust = [
      '--trusted-pem',
      at('ancoras', 'ac-raiz-de-teste.pem'),
      '--untrusted-pem',
      at('ancoras', 'ac-de-teste.pem'),
    ];
    const done = spawnSync(xmlsec1, ['--verify', '--id-attr:Id', signed, ...trust, fileOf(xml)], { encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
  }

  test('a lot, and again; the signatures of its RPS stay', async () => {
    const first = await nfse('assinar', fileOf(lote), ...signerOf(`prestadores/${PROVIDER}`));
    assert.deepEqual([first.code, first.err], [0, '']);
    assertGood(first.out, 'EnviarLoteRpsEnvio', 'LoteRps');
    assert.equal(first.out.replace(/<Signature.*<\/Signature>/s, ''), lote);
    const again = await nfse('assinar', fileOf(first.out), ...signerOf(`prestadores/${PROVIDER}`));
    assert.equal(again.err, 'Aviso: a assinatura que havia foi substituída.\n');
    const ofRps = /<Signature.*<\/Signature>/s.exec(first.out)![0];
    const within = lote.replace('</InfRps>', `</InfRps>${ofRps}`);
    const both = await nfse('assinar', fileOf(within), ...signerOf('prestadores/12121212000106'));
    assert.match(both.err, /^Aviso: o certificado é do CNPJ 12.*prestador do documento é 11[^\n]*\n$/);
    assert.equal(both.out.match(/<SignatureValue>/g)?.length, 2);
  });

  test('the request of a cancellation, beside what is signed', async () => {
    const { code, out, err } = await nfse('assinar', fileOf(pedido), ...signerOf(`prestadores/${PROVIDER}`));
    assert.deepEqual([code, err], [0, '']);
    assertGood(out, 'Pedido', 'InfPedidoCancelamento');
    assert.match(out, /<\/InfPedidoCancelamento>\s*<Signature.*<\/Signature><\/Pedido>/s);
  });

  test('or with xmlsec1, as the page says', (t) => {
    if (xmlsec1 === undefined) return t.skip('no xmlsec1');
    const page = readFileSync(path.join(site, 'soap.md'), 'utf8');
    const blocks = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
    const commands = blocks.filter((block) => block.includes('xmlsec1'));
    assert.equal(commands.length, 2);
    for (const name of ['lote-rps.xml', 'cancelamento-nfse.xml', 'assinatura-lote.xml']) {
      writeFileSync(path.join(folder, name), readFileSync(path.join(site, 'exemplos', name)));
    }
    writeFileSync(path.join(folder, 'certificado.pem'), readFileSync(at(`prestadores/${PROVIDER}.pem`)));
    writeFileSync(path.join(folder, 'chave.pem'), readFileSync(at(`prestadores/${PROVIDER}.key`)));
    const done = spawnSync('bash', ['-euc', commands.join('')], { cwd: folder, encoding: 'utf8' });
    assert.equal(done.status, 0, done.stderr);
    assertGood(readFileSync(path.join(folder, 'lote-assinado.xml'), 'utf8'), 'EnviarLoteRpsEnvio', 'LoteRps');
    assertGood(readFileSync(path.join(folder, 'cancelamento-assinado.xml'), 'utf8'), 'Pedido', 'InfPedidoCancelamento');
  });
});

describe('nfse assinar, a JSON body', () => {
  const body = `{"prestador_cpf_cnpj": "11.222.333/0001-81",\r\n "nome": "São João"}\n`;

  test('prints the header, which openssl takes over the very bytes', async () => {
    const { code, out, err } = await nfse('assinar', fileOf(body), ...signerOf(`prestadores/${PROVIDER}`));
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, /^[A-Za-z0-9+/]+=*\n$/);
    assert.deepEqual(verifyCms(out.trim(), Buffer.from(body), 'X-DPS-Assinatura').faults, []);
    const cms = fileOf(Buffer.from(out, 'base64'));
    const content = ['-inform', 'DER', '-in', cms, '-content', fileOf(body), '-out', '/dev/null'];
    const trust = ['-CAfile', at('ancoras', 'ac-raiz-de-teste.pem'), '-no-CApath', '-no-CAstore'];
    openssl('cms', '-verify', '-binary', ...content, ...trust, '-purpose', 'smimesign');
  });

  test('into a file; the name of the body says nothing', async () => {
    const file = path.join(folder, 'corpo.xml');
    writeFileSync(file, body);
    const saida = path.join(folder, 'cabecalho.txt');
    const { code, out } = await nfse('assinar', file, ...signerOf(`prestadores/${PROVIDER}`), '--saida', saida);
    assert.equal(code, 0);
    assert.match(out, /X-DPS-Assinatura/);
    const header = readFileSync(saida, 'utf8');
    assert.deepEqual(verifyCms(header, Buffer.from(body), 'X-DPS-Assinatura').faults, []);
  });

  test('warns of a certificate of somebody else', async () => {
    const { err } = await nfse('assinar', fileOf(body), ...signerOf('recusados/outro-documento'));
    assert.match(err, /é do CNPJ 88/);
    const event = await nfse('assinar', fileOf('{"motivo":"1"}'), ...signerOf('recusados/outro-documento'));
    assert.equal(event.err, '');
  });
});

describe('nfse assinar, asked wrongly', () => {
  const good = signerOf(`prestadores/${PROVIDER}`);

  test('options that name no signer, or two', async () => {
    const one = ['--certificado', 'a.pem'];
    for (const options of [[], one, ['--chave', 'a.key'], ['--pfx', 'a.pfx', ...one]]) {
      const { code, err } = await nfse('assinar', EXAMPLE, ...options);
      assert.equal(code, 2);
      assert.match(err, /Informe --pfx ARQUIVO, ou --certificado ARQUIVO e --chave ARQUIVO/);
    }
  });

  test('files that cannot be signed', async () => {
    const refused = (content: string | Uint8Array, says: RegExp): Promise<void> =>
      assert.rejects(nfse('assinar', fileOf(content), ...good), says);
    await refused('', /vazio/);
    await refused('chave,valor\n', /nem um corpo em JSON/);
    await refused('{"a": 1,}', /não é JSON bem formado/);
    await refused(Buffer.from('{"a": "São"}', 'latin1'), /UTF-8/);
    await refused('<DPS><infDPS>', /XML malformado/);
    await refused('<NFSe/>', /o documento é NFSe; assinam-se DPS, EnviarLoteRpsEnvio, CancelarNfseEnvio/);
    await refused('<e:Envelope xmlns:e="urn:x"/>', /é um envelope SOAP; assine o documento que vai dentro dele/);
    await assert.rejects(nfse('assinar', 'nada.xml', ...good), /nada\.xml não existe/);
  });

  test('a wrong password, a folder that is not there', async () => {
    const wrong = ['--pfx', at(`prestadores/${PROVIDER}.pfx`), '--senha', 'x'];
    await assert.rejects(nfse('assinar', EXAMPLE, ...wrong), /a senha informada não abre/);
    const saida = (...steps: readonly string[]): string[] => ['--saida', path.join(folder, ...steps)];
    await assert.rejects(nfse('assinar', EXAMPLE, ...good, ...saida('a', 'b')), ({ message }: Error) =>
      message.includes(`a pasta ${path.join(folder, 'a')} não existe.`),
    );
    await assert.rejects(
      nfse('assinar', EXAMPLE, ...good, ...saida('.')),
      /é uma pasta\. Indique o nome de um arquivo/,
    );
    const inFile = ['--saida', at('senha.txt', 'b')];
    await assert.rejects(nfse('assinar', EXAMPLE, ...good, ...inFile), /senha\.txt não é uma pasta/);
  });

  test('no password, or a PEM for a PKCS#12: the option that is meant is named', async () => {
    const none = ['--pfx', at(`prestadores/${PROVIDER}.pfx`)];
    await assert.rejects(nfse('assinar', EXAMPLE, ...none), /nenhuma foi informada\. Informe, com --senha-arquivo/);
    const pem = ['--pfx', at(`prestadores/${PROVIDER}.pem`)];
    await assert.rejects(nfse('assinar', EXAMPLE, ...pem), /é um PEM.* use --certificado e --chave/);
  });
});
