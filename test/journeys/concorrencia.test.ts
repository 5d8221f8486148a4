/** Many concurrent requests through the public interface: nothing is issued twice, no number is skipped or repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChave } from '../../src/fiscal/chave.ts';
import { exampleJson, exampleXml } from '../../src/fiscal/rules/example.ts';
import { atOnce } from '../support/at-once.ts';
import { type Answer, emit, request } from '../support/http.ts';
import { startTestService } from '../support/service.ts';

test('100 posts of one DPS at once: one note, and 99 answers that name it', async () => {
  const { address } = await startTestService();
  const xml = exampleXml({ serie: '3', nDPS: '77' });
  const answers = await Promise.all(Array.from({ length: 100 }, () => emit(address, xml)));
  const issued = answers.filter(({ status }) => status === 201);
  assert.equal(issued.length, 1);
  const { chave_acesso, numero_protocolo } = issued[0]!.body;
  for (const { status, body } of answers.filter((answer) => answer !== issued[0])) {
    assert.equal(status, 422);
    assert.equal(body.codigo_erro, 'E0014');
    assert.ok(body.mensagem.includes(chave_acesso));
    assert.equal(body.erros[0].chave_acesso, chave_acesso);
    assert.equal(body.erros[0].numero_protocolo, numero_protocolo);
    assert.equal(body.erros[0].mesmo_conteudo, true);
  }
  const other = await emit(address, exampleXml({ serie: '3', nDPS: '77', 'valores/vServPrest/vServ': '1.00' }));
  assert.equal(other.body.erros[0].mesmo_conteudo, false);
  const indented = await emit(address, xml.replace('<infDPS', '<!-- outra vez -->\n<infDPS'));
  assert.equal(indented.body.erros[0].mesmo_conteudo, true);
});

/** Posts these numbers, a hundred at a time. More connections would be silent on a slow machine for longer than the service accepts. */
async function emitted(address: string, numbers: readonly number[]): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  const post = async (nDPS: number): Promise<void> =>
    void answers.push(await emit(address, exampleXml({ serie: '1', nDPS: String(nDPS) })));
  await atOnce(numbers, post, 100);
  return answers;
}

test('1,000 posts of different DPS of one provider, a hundred at once: numbers 1 to 1,000', async () => {
  const { address } = await startTestService();
  const posted = Array.from({ length: 1000 }, (_, place) => place + 1);
  const answers = await emitted(address, posted);
  const numbers = answers.map(({ status, body }) => {
    assert.equal(status, 201, JSON.stringify(body));
    return Number(parseChave(body.chave_acesso)!.nNFSe);
  });
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    posted,
  );
});

test('duplicates among others take no number', async () => {
  const { address } = await startTestService();
  const places = Array.from({ length: 200 }, (_, place) => (place % 50) + 1);
  const answers = await emitted(address, places);
  const numbers = answers.flatMap(({ status, body }) =>
    status === 201 ? [Number(parseChave(body.chave_acesso)!.nNFSe)] : [],
  );
  assert.deepEqual(
    numbers.sort((a, b) => a - b),
    Array.from({ length: 50 }, (_, place) => place + 1),
  );
  const next = await emit(address, exampleXml({ serie: '2', nDPS: '1' }));
  assert.equal(Number(parseChave(next.body.chave_acesso)!.nNFSe), 51);
});

const nDPSof = ({ body }: { body: { xml_nfse: string } }): number =>
  Number(/<serie>70000<\/serie><nDPS>(\d+)<\/nDPS>/.exec(body.xml_nfse)![1]);

test('a DPS without number takes the number of its note, until somebody has taken that one by hand', async () => {
  const { address } = await startTestService();
  assert.equal(nDPSof(await emit(address, exampleXml())), 1);
  for (const nDPS of ['3', '5', '7']) {
    assert.equal((await emit(address, exampleXml({ serie: '70000', nDPS }))).status, 201, nDPS);
  }
  // Notes 2, 3 and 4 belong to another provider; the example then takes the next free number after its own.
  const taken: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    const answer = await emit(address, exampleXml());
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.equal(Number(parseChave(answer.body.chave_acesso)!.nNFSe), 5 + turn);
    taken.push(nDPSof(answer));
  }
  assert.deepEqual(taken, [6, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
});

test('the same, all at once', async () => {
  const { address } = await startTestService();
  for (const nDPS of ['3', '5', '7']) await emit(address, exampleXml({ serie: '70000', nDPS }));
  const answers = await Promise.all(Array.from({ length: 10 }, () => emit(address, exampleXml())));
  for (const { status, body } of answers) assert.equal(status, 201, JSON.stringify(body));
  assert.deepEqual(
    answers.map(nDPSof).toSorted((a, b) => a - b),
    [4, 6, 8, 9, 10, 11, 12, 13, 14, 15],
  );
});

test("the last number of fifteen digits, taken by hand, is in nobody's way", async () => {
  const { address } = await startTestService();
  const last = await emit(address, exampleXml({ serie: '70000', nDPS: '999999999999999' }));
  assert.equal(last.status, 201, JSON.stringify(last.body));
  for (const nDPS of [2, 3]) assert.equal(nDPSof(await emit(address, exampleXml())), nDPS);
});

test('who takes a number of series 70000 by hand that the automatic ones have yet to reach is told', async () => {
  const { address } = await startTestService();
  const remarks = async (
    serie: string,
    nDPS: string,
    path = '',
    write: typeof exampleJson = exampleXml,
  ): Promise<readonly string[]> => {
    const { body } = await request(address, `/integracao/api/v1/nfse/v101${path}`, {
      method: 'POST',
      headers: { 'Content-Type': write === exampleXml ? 'application/xml' : 'application/json' },
      body: write({ serie, nDPS })!,
    });
    return (body.avisos ?? [])
      .filter(({ codigo }: { codigo: string }) => codigo === 'E0014')
      .map(({ xpath, mensagem }: { xpath: string; mensagem: string }) => `${xpath} ${mensagem}`);
  };
  assert.deepEqual(await remarks('70000', '1'), [], 'the number that it would have had anyway');
  assert.deepEqual(await remarks('1', '99'), [], "another series is the sender's own");
  const [inNames] = await remarks('70000', '4', '/validacao', exampleJson);
  assert.match(inNames!, /uma DPS sem numero_dps recebe o número da NFS-e/, 'no word of it is taken for an element');
  for (const path of ['/validacao', '']) {
    const [told, ...more] = await remarks('70000', '4', path);
    assert.match(told!, /^\/DPS\/infDPS\/nDPS A série 70000 .* ainda não chegou a 4: com esta nota chega a 3\./);
    assert.deepEqual(more, []);
  }
  // Note 4 meets the number that was taken, takes 5, and 5 is then reached.
  assert.equal(nDPSof(await emit(address, exampleXml())), 5);
  assert.match((await remarks('70000', '6'))[0]!, /chega a 5\./);
});
