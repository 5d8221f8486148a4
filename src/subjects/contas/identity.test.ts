/** Passwords and one-time codes, compared with published values. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stepOf } from './one-time-code.ts';
import { hashPassword, verifyPassword, whyWeak } from './password.ts';

/** RFC 6238, appendix B: SHA-1, the secret «12345678901234567890»; the last six of its eight digits. */
const SECRET = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ';
const VECTORS = [
  [59, '287082'],
  [1_111_111_109, '081804'],
  [1_111_111_111, '050471'],
  [1_234_567_890, '005924'],
  [2_000_000_000, '279037'],
  [20_000_000_000, '353130'],
] as const;

test('codes are those of RFC 6238, and serve in the step before and after theirs', () => {
  for (const [second, code] of VECTORS) {
    const step = Math.floor(second / 30);
    assert.equal(stepOf(code, SECRET, second * 1000), step);
    assert.equal(stepOf(`${code.slice(0, 3)} ${code.slice(3)}`, SECRET, second * 1000), step);
    for (const off of [-1, 1]) assert.equal(stepOf(code, SECRET, (second + 30 * off) * 1000), step, `${off}`);
    for (const off of [-2, 2]) assert.equal(stepOf(code, SECRET, (second + 30 * off) * 1000), undefined, `${off}`);
  }
  for (const wrong of ['', '28708', '2870822', 'abcdef', '２８７０８２']) {
    assert.equal(stepOf(wrong, SECRET, 59_000), undefined, wrong);
  }
});

test('a password is kept as argon2id, each time with another salt, and only it is right', async () => {
  const [one, other] = [await hashPassword('quatro cavalos bordam'), await hashPassword('quatro cavalos bordam')];
  assert.match(one, /^\$argon2id\$v=19\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  // OWASP: at least 19 MiB with two passes and one lane.
  const [memory, passes] = [/m=(\d+)/, /t=(\d+)/].map((each) => Number(each.exec(one)![1]));
  assert.ok(memory! >= 19_456 && passes! >= 2, one);
  assert.notEqual(one, other);
  assert.equal(await verifyPassword('quatro cavalos bordam', one), true);
  // The same letters written in another normal form of Unicode.
  const accented = await hashPassword('pé de moleque é bom'.normalize('NFC'));
  assert.equal(await verifyPassword('pé de moleque é bom'.normalize('NFD'), accented), true);
  assert.equal(await verifyPassword('quatro cavalos borda', one), false);
  assert.equal(await verifyPassword('qualquer', undefined), false);
});

test('a weak password is told why: short, leaked, or about its owner', async () => {
  for (const weak of ['curta', 'passwordpassword', '123456789012', 'aaaaaaaaaaaa', 'ana.lima.ana.lima']) {
    assert.ok((await whyWeak(weak, ['ana.lima', 'Ana Lima'])) !== undefined, weak);
  }
  assert.equal(await whyWeak('quatro cavalos bordam janelas', ['ana.lima', 'Ana Lima']), undefined);
});

const OF_ANA = ['ana.lima', 'Ana Lima', 'sao-bento-do-sul', 'São Bento do Sul'];

const TRIED_FIRST = `
prefeitura2026 | Prefeitura@2026! | Pr3f31tur4@2026 | 15081990prefeitura | prefeitura password | prefeitura sao bento
nfse2026nfse2026 | AnaLima-nfse-2026 | notafiscal2027 | municipal12345 | Mun1c1p10#S3nh4 | admin.municipio | Administrador#1
senhasenhasenha | SenhaSenhaSenh | Minha senha 2026! | 5enh@_do_P4inel | senha.admin.nfse.painel.teste | Bem-vindo@2026
saobentodosul26 | S40-B3nt0-d0-5ul | Prefeitura Municipal de São Bento do Sul | novembro/2026!!
k7#pQ2xk7#pQ2x | tijolo-tijolo-tijolo | xy25xy25xy25x | 201520162017 | 11222333000181 | 11.222.333/0001-81
prefeitura@2026gabriel | brasil2026futebol | Prefeitura@2026carlos | senha@gabriel2026! | nfse@2026flamengo`;

const GOOD = `
prefeitura azul dorme cedo | tres senhas e um tijolo verde | bento pinta quintais de roxo | a nota do cavalo | ana mora longe do mar
a testemunha anotou o brasileirão | Servico bom e caro! | vinte casas, uma cidade | amo a minha cidade natal
quatro cavalos bordam, quatro cavalos dormem | 9$kT!2vQ#x7& | 4f8a90c1d2e3`;

const listIn = (text: string): readonly string[] => text.split(/[|\n]/).flatMap((one) => one.trim() || []);

test('what is tried first at the console of a town hall is weak, and a sentence that has a word of it is not', async () => {
  for (const weak of listIn(TRIED_FIRST)) assert.ok((await whyWeak(weak, OF_ANA)) !== undefined, weak);
  for (const good of listIn(GOOD)) assert.equal(await whyWeak(good, OF_ANA), undefined, good);
  const said = await whyWeak('prefeitura2026', OF_ANA);
  assert.match(said!, /prefeitura, nfse e senha.* Sem eles sobra 1; precisam sobrar 8\./);
});
