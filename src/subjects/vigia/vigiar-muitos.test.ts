/** The looks of the monitoring with many municipalities. */
import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { freshFolder, openssl } from '../../../test/support/openssl.ts';
import { until } from '../../../test/support/until.ts';
import { tabelaEmbarcada } from '../../fiscal/aliquotas-ibs-cbs.ts';
import { openVigia } from './vigiar.ts';

const NOW = Date.parse('2026-11-21T12:00:00-03:00');

/** A world of these municipalities, in which no note waits. */
function worldOf(municipios: readonly object[]) {
  const store = {
    ping: async () => undefined,
    municipios: { list: async () => municipios },
    vigia: {
      countMesesAfter: async () => 2,
      lookAtEsperas: async () => [],
      lookAtAuditoria: async () => [],
    },
    aliquotas: { readTabela: async () => tabelaEmbarcada() },
    banco: { readBytes: async () => 1 },
  };
  const log = { warn: assert.fail, error: assert.fail, info: () => undefined };
  return { store, log, trust: () => ({ lists: () => undefined }), now: () => NOW } as never;
}

test('a look at thousands of municipalities reads each of them a few times', async () => {
  const count = 2_000;
  let reads = 0;
  const municipios = Array.from({ length: count }, (_, place) => ({
    tenant: `m${place}`,
    confianca: {},
    adn: undefined,
    get ambiente() {
      reads += 1;
      return 'producao';
    },
  }));
  const look = openVigia(worldOf(municipios));
  await until(async () => {
    const samples = await look();
    const isRead = (leitura: string): boolean =>
      samples.some(
        ({ name, labels, value }) => name === 'nfse_leitura_em_dia' && labels['leitura'] === leitura && value === 1,
      );
    return isRead('banco') && isRead('arquivos');
  }, 'the database and the files to be read');
  assert.ok(reads < 200 * count, `${reads} reads`);
});

test('one look opens the certificates of many municipalities', async () => {
  const folder = freshFolder();
  const [certificado, chave] = ['c.pem', 'k.pem'].map((name) => path.join(folder, name));
  const self = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-subj', '/CN=x', '-days', '30'];
  openssl(...self, '-keyout', chave!, '-out', certificado!);
  const municipios = Array.from({ length: 80 }, (_, place) => ({
    tenant: `m${place}`,
    ambiente: 'producao',
    confianca: {},
    adn: { url: 'https://adn', ca: undefined, chaves: { certificado, chave } },
  }));
  const look = openVigia(worldOf(municipios));
  const ends = await until(async () => {
    const found = (await look()).filter(({ name }) => name === 'nfse_certificado_vence_timestamp_seconds');
    return found.length > 0 ? found : undefined;
  }, 'the look at the files');
  assert.equal(ends.length, municipios.length);
});
