/** Many at once through the front door: nothing is issued twice, no number is skipped or repeated. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseChave } from '../../src/fiscal/chave.ts';
import { exampleXml } from '../../src/fiscal/rules/example.ts';
import { atOnce } from '../support/at-once.ts';
import { type Answer, emit } from '../support/http.ts';
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

/**
 * Posts these numbers, a hundred at any time. More would be connections that a slow machine leaves silent for longer than the
 * service puts up with.
 */
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

test('a DPS without number takes the next one of the provider; one taken by hand is answered as such', async () => {
  const { address } = await startTestService();
  const first = await emit(address, exampleXml());
  assert.match(first.body.xml_nfse, /<serie>70000<\/serie><nDPS>1<\/nDPS>/);
  const byHand = await emit(address, exampleXml({ serie: '70000', nDPS: '3' }));
  assert.equal(byHand.status, 201);
  const third = await emit(address, exampleXml());
  assert.equal(third.status, 422);
  assert.equal(third.body.codigo_erro, 'E0014');
  assert.equal(third.body.erros[0].chave_acesso, byHand.body.chave_acesso);
  assert.match(third.body.mensagem, /Informe serie e nDPS/);
});
