/**
 * The attacks on signatures (`ataques/`) against the readers of signatures alone. The refusal of a case must not depend on later checks of
 * the service. `ataques.test.ts` tries the whole path.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { bytesOf, readCorpus } from '../../../test/ataques/ataque.ts';
import { verifyCms } from '../../documents/cms.ts';
import { DPS_PROFILE } from '../../documents/signature-shape.ts';
import { checkSignature } from '../../documents/signed.ts';
import { readXml } from '../../documents/xml.ts';

const CAMPO = 'X-DPS-Assinatura';

describe('the signature of a JSON body', () => {
  const { casos, partes } = readCorpus('cms');
  for (const { nome, entrada, veredito } of casos) {
    if ('conexao' in entrada) continue;
    test(nome, () => {
      const { faults, certificate } = verifyCms(entrada.cabecalhos?.[CAMPO], bytesOf(entrada.corpo, partes), CAMPO);
      const wanted = veredito.codigos.filter((codigo) => codigo === 'E9002' || codigo === 'E9003');
      assert.deepEqual(
        faults.map(({ codigo }) => codigo),
        wanted,
      );
      if (faults.length === 0) assert.ok(certificate);
      else if (veredito.diz !== undefined && veredito.codigos.length === 1) {
        assert.ok(faults[0]!.mensagem.includes(veredito.diz), faults[0]!.mensagem);
      }
    });
  }
});

describe('the signature of a DPS', () => {
  const { casos, partes } = readCorpus('xml-assinatura');
  const OURS = new Set(['E901', 'E902', 'E905']);
  for (const { nome, entrada, veredito } of casos) {
    if ('conexao' in entrada || entrada.para !== 'emissao') continue;
    test(nome, () => {
      const reading = readXml(bytesOf(entrada.corpo, partes));
      if ('fault' in reading) return assert.ok(veredito.codigos.includes(reading.fault.codigo), reading.fault.codigo);
      const { faults, certificate } = checkSignature(reading, DPS_PROFILE);
      const found = new Set(faults.map(({ codigo }) => codigo).filter((codigo) => OURS.has(codigo)));
      assert.deepEqual([...found].sort(), veredito.codigos.filter((codigo) => OURS.has(codigo)).sort());
      if (faults.length === 0) assert.ok(certificate);
      const { diz, codigos } = veredito;
      if (faults.length > 0 && diz !== undefined && codigos.every((codigo) => OURS.has(codigo))) {
        assert.ok(
          faults.some(({ mensagem }) => mensagem.includes(diz)),
          faults.map(({ mensagem }) => mensagem).join('\n'),
        );
      }
    });
  }
});
