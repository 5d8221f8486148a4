/**
 * The arguments after `nfse`: the message on each mistake suggests the probable intention, and the help is complete.
 * `linha-de-comando.maquina.test.ts` has the messages about folders and files.
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, test } from 'node:test';
import { nfseHere } from './support/cli.ts';
import { nfse, ROOT } from './support/process.ts';

async function wrongly(typed: string, ...says: readonly RegExp[]): Promise<string> {
  const { code, out, err } = await nfseHere(typed.split(' '));
  assert.deepEqual([code, out], [2, ''], `${typed}: ${err}`);
  for (const one of says) assert.match(err, one, typed);
  return err;
}

async function help(typed: string): Promise<string> {
  const { code, out, err } = await nfseHere(typed.split(' '));
  assert.deepEqual([code, err], [0, ''], typed);
  return out;
}

describe('options and arguments that do not fit', () => {
  test('an unknown option is named, with the one that it resembles', async () => {
    await wrongly(
      'municipio criar x --ibgee 3550308',
      /^Não existe a opção --ibgee\. Seria --ibge\?$/m,
      /--ibge CÓDIGO/,
    );
    await wrongly('municipio criar x --ancora p', /--ancora\. Seria --ancoras\?/);
    await wrongly('municipio criar x --adn-certifcado=p', /--adn-certifcado\. Seria --adn-certificado\?/);
    await wrongly('emitir dps.xml -url http://x', /^Não existe a opção -url\. Seria --url\?$/m);
    const far = await wrongly('validar dps.xml --abracadabra', /^Não existe a opção --abracadabra\.$/m);
    assert.doesNotMatch(far, /Seria/);
    await wrongly('municipio listar --constructor', /^Não existe a opção --constructor\.$/m);
  });

  test('all of them at once', async () => {
    await wrongly(
      'municipio criar x --igbe 1 --aliqota 5',
      /--igbe\. Seria --ibge\?\n.*--aliqota\. Seria --aliquota\?/,
    );
  });

  test('an option without its value, also where another option follows', async () => {
    await wrongly('municipio criar x --ibge', /^Falta o valor da opção --ibge: --ibge CÓDIGO\.$/m);
    await wrongly('municipio criar x --ibge --aliquota 3', /^Falta o valor da opção --ibge: --ibge CÓDIGO\.$/m);
    await wrongly('assinar x --chave', /^Falta o valor da opção --chave: --chave ARQUIVO\.$/m);
    await wrongly('assinar x --senha -abc', /Falta o valor da opção --senha: .* escreva --senha=VALOR/);
    await wrongly('municipio excluir x --confirmar=sim', /^A opção --confirmar não leva valor\.$/m);
  });

  test('an argument too many, and one too few', async () => {
    await wrongly('municipio mostrar alfa beta', /^Há um argumento a mais: beta\. municipio mostrar leva só SLUG\.$/m);
    await wrongly(
      'municipio listar a b',
      /^Há argumentos a mais: a b\. municipio listar não leva nenhum além das opções\.$/m,
    );
    await wrongly('validar', /^validar pede ARQUIVO\.$/m);
    await wrongly('municipio excluir ', /^municipio excluir pede SLUG, que veio vazio\.$/m);
  });

  test('a command that there is not', async () => {
    await wrongly('municpio criar', /^Não existe o comando municpio\. Seria municipio\?/);
    await wrongly('municipio crair', /^Não existe o comando municipio crair\. Seria municipio criar\?/);
    await wrongly('listar', /Seria municipio listar\?/);
    assert.doesNotMatch(await wrongly('abracadabra', /Os comandos são: serve, /), /Seria/);
  });
});

describe('the help', () => {
  test('of a family of commands is its commands', async () => {
    for (const [family, ...commands] of [
      [
        'municipio',
        'criar SLUG',
        'listar',
        'mostrar SLUG',
        'conferir',
        'alterar SLUG',
        'testar-adn SLUG',
        'excluir SLUG',
        'abrir ARQUIVO',
        'exportar SLUG',
        'importar ARQUIVO',
        'brasao SLUG',
      ],
      [
        'prestador',
        'listar',
        'mostrar DOCUMENTO',
        'cadastrar DOCUMENTO',
        'alterar DOCUMENTO',
        'bloquear DOCUMENTO',
        'desbloquear DOCUMENTO',
        'retirar DOCUMENTO',
        'importar-simples ARQUIVO',
        'importar ARQUIVO',
        'desfazer',
        'exportar [ARQUIVO]',
      ],
      ['servicos', 'importar ARQUIVO', 'desfazer', 'exportar [ARQUIVO]', 'listar'],
      ['beneficios', 'importar ARQUIVO', 'desfazer', 'exportar [ARQUIVO]', 'listar'],
      ['deducoes', 'importar ARQUIVO', 'desfazer', 'exportar [ARQUIVO]', 'listar'],
      ['regimes', 'importar ARQUIVO', 'desfazer', 'exportar [ARQUIVO]', 'listar'],
      ['nao-incidencias', 'importar ARQUIVO', 'desfazer', 'exportar [ARQUIVO]', 'listar'],
      [
        'evento',
        ...['enviar CHAVE', 'registrar CHAVE', 'listar CHAVE', 'problemas', 'mostrar ID', 'reprocessar ID'],
        ...['separar ID', 'cancelar ID', 'dispensar ID', 'arquivar [ID …]'],
      ],
    ] as const) {
      const shown = await help(`${family} --help`);
      assert.equal(await help(`${family} -h`), shown);
      assert.deepEqual(
        [...shown.matchAll(/^ {2}(\S.*?) {2,}/gm)].map(([, command]) => command),
        commands.map((command) => `${family} ${command}`),
      );
      await wrongly(family, /^Uso: nfse/);
    }
  });

  test('of alterar names no default, because what is not named stays', async () => {
    assert.match(await help('municipio criar --help'), /padrão: producao/);
    assert.doesNotMatch(await help('municipio alterar --help'), /padrão/);
  });

  test('calls every file ARQUIVO and every folder PASTA', async () => {
    const commands = [...(await help('ajuda')).matchAll(/^ {2}([a-z-]+(?: [a-z]+)?)(?: [A-ZÓ]+)? {2}/gm)].map(
      ([, name]) => name!,
    );
    assert.ok(commands.includes('municipio criar') && commands.includes('pki'), commands.join());
    for (const command of commands)
      assert.doesNotMatch(await nfseHelp(command), /\b(?:FILE|DIR|ARQUIVO\.csv)\b/, command);
  });

  test('of assinatura says where the check is made', async () => {
    const shown = await help('assinatura --help');
    assert.match(shown, /sem --municipio nem --url a conferência é feita aqui/);
    assert.doesNotMatch(shown, /padrão integracao/);
  });

  test('of the simulator lists the addresses of its control', async () => {
    const { code, out } = await nfse(['adn-simulador', '--help'], {});
    assert.equal(code, 0);
    for (const shown of ['GET /estado', 'GET /documentos/{chave}', 'PUT /faltas', 'PUT /recusas', 'POST /limpar'])
      assert.ok(out.includes(`  ${shown}`), shown);
  });

  async function nfseHelp(command: string): Promise<string> {
    // It lists options of the simulator, which are out of scope here.
    return command === 'adn-simulador' ? '' : help(`${command} --help`);
  }
});

test('who reads a part of the output, as head does, leaves no trace of the program', async () => {
  const child = spawn(path.join(ROOT, 'bin', 'nfse'), ['--help'], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let err = '';
  child.stderr.on('data', (chunk) => (err += chunk));
  const [code] = await once(child, 'close');
  assert.deepEqual([code, err], [0, '']);
});

test('nfse --version is that of the package, with the commit and the layout', async () => {
  const { name, version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const [, commit] = new RegExp(`^${name} ${version}(?: \\(commit (.+)\\))?, leiaute 1.01 da NFS-e nacional\n$`).exec(
    await help('--version'),
  )!;
  // The commit is unknown without git, or outside of a repository.
  const head = spawnSync('git', ['-C', ROOT, 'log', '-1', '--format=%H'], { encoding: 'utf8' });
  if (head.status === 0 && existsSync(path.join(ROOT, '.git'))) assert.equal(commit, head.stdout.slice(0, 12));
});

test('nfse emitir shows a refusal by the ADN as one', async () => {
  const service = createServer((req, res) => {
    req.resume();
    const posted = { chave_acesso: '1', numero_protocolo: '2' };
    const asked = {
      nota: { status: 'rascunho' },
      protocolo: { status: 'rejeitado', mensagem_retorno: 'E1289: motivo do ADN' },
    };
    res.writeHead(req.method === 'POST' ? 201 : 200, { 'Content-Type': 'application/json' });
    res.end(JSON.stringify(req.method === 'POST' ? posted : asked));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  try {
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
    const { code, out, err } = await nfseHere(['emitir', 'examples/dps.xml', '--url', url]);
    assert.equal(code, 1);
    assert.match(out, /^ {2}situação {3}rejeitada \(/m);
    assert.doesNotMatch(out, /rascunho/);
    assert.match(err, /^A nota foi recusada: E1289: motivo do ADN$/m);
  } finally {
    service.closeAllConnections();
    service.close();
  }
});

describe('nfse explicar', () => {
  test('of a code that is not in the table offers those that resemble it, one a line', async () => {
    const { code, err } = await nfseHere(['explicar', 'e9']);
    assert.equal(code, 1);
    assert.match(err, /^O código E9 não está na tabela de erros\.\nParecidos:\n {2}E901 {3}\S.*\n {2}E902 {3}\S/);
    assert.match((await nfseHere(['explicar', 'E9999'])).err, /Parecidos:\n {2}E999 {2,}\S/);
    const far = await nfseHere(['explicar', 'E999999']);
    assert.match(
      far.err,
      /não está na tabela de erros\.\n.*\/docs\/erros do serviço no ar, e em docs\/erros\/README\.md\.$/m,
    );
  });

  test('says every status with which a code comes', async () => {
    assert.match(await help('explicar E703'), /^ {2}HTTP {2,}503, 429, 409 ou 422$/m);
    assert.match(await help('explicar E0310'), /^ {2}HTTP {2,}422$/m);
    assert.match(await help('explicar E1308'), /^ {2}HTTP {2,}201, em avisos$/m);
  });

  test('says once what the national standard answers, in the column of the others', async () => {
    const shown = await help('explicar E904');
    assert.match(shown, /^ {2}No padrão nacional {2,}Responde E0715\.$/m);
    assert.equal(shown.match(/padrão nacional/g)?.length, 1);
    const starts = [...shown.matchAll(/^ {2}(\S(?:\S| (?! ))* +)\S/gm)].map(([, left]) => left!.length);
    assert.equal(new Set(starts).size, 1, shown);
  });
});

test('nfse prestador mostrar says when a document is none', async () => {
  const mostrar = (documento: string, says: RegExp): Promise<string> =>
    wrongly(`prestador mostrar ${documento} --municipio alfa`, says);
  await mostrar('123', /^O documento indicado não é CNPJ nem CPF: tem 3 posições; um CPF tem 11, e um CNPJ 14\.$/m);
  await mostrar('11.222.333/0001-82', /^O documento indicado não é um CNPJ: os dígitos verificadores não conferem\.$/m);
  await mostrar('52998224726', /^O documento indicado não é um CPF: /m);
});

test('every command that lists or shows gives the same in JSON', async () => {
  const { out } = await nfseHere(['--help']);
  const shown = [...out.matchAll(/^ {2}([a-z-]+ (?:listar|mostrar))\b/gm)].map(([, name]) => name!.split(' '));
  assert.ok(shown.length > 10, out);
  const asked = await Promise.all(
    shown.map(async (name) => [name, (await nfseHere([...name, '--help'])).out] as const),
  );
  const without = asked.filter(([, help]) => !/^ {2}--json /m.test(help));
  assert.deepEqual(
    without.map(([name]) => name.join(' ')),
    [],
  );
});
