/**
 * A production is restored to an earlier moment. Its later notes are with the providers and in the national environment. Nothing is served
 * before an operator has looked, and no number is given twice.
 */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { cnpjsOf, signedDps } from '../../../bench/documents.ts';
import { openStage, registerTenant, startSimulator } from '../../../scripts/stage.ts';
import { onEnd } from '../../../test/support/cleanup.ts';
import { runBeside } from '../../../test/support/cli.ts';
import { connectTo, openCasa, untilArchived, untilDecided, untilSettled } from '../../../test/support/copia.ts';
import { request } from '../../../test/support/http.ts';
import { ifThere, nfse, serverProcesses, startServiceProcess } from '../../../test/support/process.ts';
import { until, untilTrue } from '../../../test/support/until.ts';
import { parseChave } from '../../fiscal/chave.ts';
import { exampleXml } from '../../fiscal/rules/example.ts';

const SLUG = 'exemplo';
const noServer = process.platform === 'win32' ? 'a copy is recovered where there is a shell' : false;

describe('a production that goes back in time', { skip: noServer, timeout: 600_000 }, () => {
  test('is told what the environment has beyond, stays closed, and gives no number twice', async () => {
    const casa = await openCasa();
    // The third provider is unknown to the copy.
    const stage = await openStage(path.join(casa.dataDir, 'palco'), cnpjsOf(3), Date.now());
    const simulator = await startSimulator(stage);
    onEnd(() => simulator.end('SIGINT'));
    const service = await startServiceProcess(casa.env);
    const keys = stage.pki.prestadores.slice(0, 3);
    const providers = keys.map(({ documento }) => ({ documento, razaoSocial: 'Prestador de Teste Ltda' }));
    await registerTenant(
      stage,
      { slug: SLUG, ibge: '3550308', adn: simulator.address, providers },
      casa.env,
      runBeside,
    );
    const template = exampleXml({ tpAmb: '1', serie: '1', nDPS: '1' });
    const ofTwo = signedDps(template, keys.slice(0, 2), 1, 30);
    const ofThree = signedDps(template, keys, 1_001, 12);
    const issueAt = async (address: string, document: Buffer) =>
      request(address, `/${SLUG}/api/v1/nfse/v101`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/xml' },
        body: document as Uint8Array<ArrayBuffer>,
      });
    const issue = async (document: Buffer): Promise<string> => {
      const { status, body } = await issueAt(service.address, document);
      assert.equal(status, 201, JSON.stringify(body));
      return body.chave_acesso;
    };

    const before = await Promise.all(ofTwo.slice(0, 10).map(issue));
    const client = await connectTo(casa.location);
    await untilSettled(client);
    await casa.done('fazer');
    const moment = new Date().toISOString();
    const after = await Promise.all(ofThree.map(issue));
    // Events as well: on a note that the copy knows, and on one that it does not.
    for (const chave of [before[0]!, after[0]!]) {
      const registered = await nfse(
        ['evento', 'registrar', chave, '--municipio', SLUG, '--tipo', 'confirmacao_tacita'],
        casa.env,
      );
      assert.equal(registered.code, 0, registered.err);
    }
    await untilSettled(client);
    // Notes that were answered but never sent: no source can report them.
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: true }) });
    const unsent = await Promise.all(ofTwo.slice(10, 14).map(issue));
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: false }) });
    await untilArchived(client, casa.copias);
    await client.end();
    const pids = serverProcesses(casa.dataDir);
    await service.end('SIGKILL');
    for (const pid of pids) ifThere(() => process.kill(pid, 'SIGKILL'));
    await untilTrue(() => !isAlive(pids[0]!), 'the server is gone');
    await rm(casa.location, { recursive: true });

    // The environment is away: the exit code informs a script, and the output names the operator's next step.
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: true }) });
    const unasked = await casa.copia('restaurar', '--ate', moment);
    assert.equal(unasked.code, 3, unasked.out + unasked.err);
    assert.match(unasked.out, /PROBLEMA +exemplo: o ADN não pôde ser perguntado/);
    assert.match(unasked.out, /nfse copia perguntar exemplo/);
    assert.equal((await casa.copia('perguntar')).code, 1);
    await simulator.ask('/faltas', { method: 'PUT', body: JSON.stringify({ fora_do_ar: false }) });
    const later = await casa.done('perguntar', SLUG);
    for (const chave of after) assert.ok(later.includes(chave), `${chave} is told`);
    assertEventos(later, [before[0]!, after[0]!]);
    assert.match(later, /adiantada a numeração de \d+ prestadores/);
    const json = JSON.parse(await casa.done('perguntar', '--json'));
    assert.deepEqual(json[0].eventos.map(eventoText).toSorted(), [before[0]!, after[0]!].map(TACITA).toSorted());
    assert.equal(json[0].prestadores, 0, 'moved ahead once');
    const nobody = await casa.copia('perguntar', 'nenhum');
    assert.equal(nobody.code, 1, nobody.out);
    assert.match(nobody.err, /não há município nenhum/);

    const out = await casa.done('restaurar', '--ate', moment, '--guardar-atual');
    assertEventos(out, [before[0]!, after[0]!]);
    const told = [...out.matchAll(/^ +(\d{50})$/gm)].map(([, chave]) => chave!);
    // Notes that were announced when the environment went away may have reached it.
    for (const chave of after) assert.ok(told.includes(chave), `${chave} is told`);
    for (const chave of told) assert.ok([...after, ...unsent].includes(chave), `${chave} was issued after`);
    assert.match(out, /o ADN tem \d+ notas que este banco perdeu/);
    assert.match(out, /Fechados, até que você confira: exemplo\./);
    assert.deepEqual(
      readdirSync(casa.dataDir).filter((name) => name.startsWith('restauracao-')),
      [],
    );

    const again = await startServiceProcess(casa.env);
    const closed = await issueAt(again.address, ofTwo[20]!);
    assert.equal(closed.status, 503, JSON.stringify(closed.body));
    const known = await request(again.address, `/${SLUG}/api/v1/nfse/${before[0]}`);
    assert.equal(known.status, 200);
    const opened = await nfse(['municipio', 'alterar', SLUG, '--sem-fechar'], casa.env);
    assert.equal(opened.code, 0, opened.err);
    const first = signedDps(template, keys, 2_001, 1)[0]!;
    const fresh: string[] = [];
    // The service has a cached setting of the municipality, and reads it again.
    fresh.push(
      await until(async () => {
        const { status, body } = await issueAt(again.address, first);
        if (status === 201) return body.chave_acesso as string;
        assert.equal(status, 503, JSON.stringify(body));
        return undefined;
      }, 'the municipality is open'),
    );
    for (const document of signedDps(template, keys, 2_002, 11)) {
      const { status, body } = await issueAt(again.address, document);
      assert.equal(status, 201, JSON.stringify(body));
      fresh.push(body.chave_acesso);
    }
    const numberOf = (chave: string): string => {
      const { documento, nNFSe } = parseChave(chave)!;
      return `${documento} ${nNFSe}`;
    };
    const given = [...before, ...after, ...unsent, ...fresh].map(numberOf);
    assert.equal(new Set(given).size, given.length, given.toSorted().join('\n'));

    // Skipped numbers are in the trail, and are no fault of the next copy.
    const trail = await connectTo(casa.location);
    const { rows } = await trail.query(
      `select chave, antes, depois from atos where acao = 'numeração adiantada' order by chave`,
    );
    assert.equal(rows.length, 3);
    await untilDecided(trail);
    await trail.end();
    await casa.done('fazer');
    assert.match(await casa.done('conferir'), /volta inteira/);
    assert.equal((await simulator.ask('/estado')).dps_com_mais_de_uma_chave.length, 0);
    await again.end('SIGINT');
  });
});

/** Anexo II: 205204 is the tacit confirmation; the first one on each note. */
const TACITA = (chave: string): string => `${chave}  205204  1`;

function eventoText({ chave_acesso, codigo, numero_sequencial }: Record<string, unknown>): string {
  return `${chave_acesso}  ${codigo}  ${numero_sequencial}`;
}

function assertEventos(out: string, chaves: readonly string[]): void {
  assert.match(out, new RegExp(`o ADN tem ${chaves.length} eventos que este banco perdeu`));
  for (const chave of chaves) assert.match(out, new RegExp(`^ +${TACITA(chave)}  20\\d\\d-\\d\\d-\\d\\dT\\S+$`, 'm'));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
