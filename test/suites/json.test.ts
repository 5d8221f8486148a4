/** JSONTestSuite against the reader of bodies: texts that are JSON (`y_`), are not (`n_`), or are left open by the standard (`i_`). */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { readJson } from '../../src/documents/json.ts';
import { type Caso, trySuite } from './suite.ts';

const DELES = { y: 'aceita', n: 'recusa', i: 'livre' } as const;

trySuite({
  nome: 'JSONTestSuite',
  marca: 'test_parsing/y_array_empty.json',
  casosMin: 300,
  estritos: [{ porque: 'um nome duas vezes no mesmo objeto, que cada leitor entende de um modo', casos: /duas vezes/ }],
  frouxos: [],
  run: (folder) =>
    readdirSync(path.join(folder, 'test_parsing')).map((nome): Caso => {
      const json = readJson(readFileSync(path.join(folder, 'test_parsing', nome)));
      const deles = DELES[nome[0] as keyof typeof DELES];
      return 'fault' in json
        ? { nome, deles, nosso: 'recusa', motivo: json.fault.mensagem }
        : { nome, deles, nosso: 'aceita' };
    }),
});
