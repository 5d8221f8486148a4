/** `nfse pki`: a test PKI in a folder, and a table with the purpose of each file. */

import { type Command, textOf, textsOf } from '../../base/terminal/command.ts';
import { columns } from '../../base/terminal/text.ts';
import { type CertificateFiles, makePki, type Pki, type Recusado } from './make-pki.ts';

const PASTA_PADRAO = 'pki';

export const PKI: Command = {
  name: 'pki',
  summary: 'Cria uma "ICP-Brasil" de teste: certificados de prestadores, do município e do ADN.',
  options: {
    pasta: { takes: 'PASTA', help: `pasta vazia ou nova (padrão ./${PASTA_PADRAO})` },
    cnpj: { takes: 'CNPJ', help: 'prestador; repita para vários (padrão: o da DPS de exemplo)', isRepeated: true },
    'municipio-cnpj': { takes: 'CNPJ', help: 'CNPJ do município' },
    senha: { takes: 'SENHA', help: 'senha dos .pfx (padrão: uma sorteada, em senha.txt)' },
  },
  run: async (terminal, values) => {
    const pki = await makePki({
      pasta: textOf(values, 'pasta') ?? PASTA_PADRAO,
      cnpjs: textsOf(values, 'cnpj').map((cnpj) => cnpj.replace(/[./-]/g, '').toUpperCase()),
      municipioCnpj: textOf(values, 'municipio-cnpj')?.replace(/[./-]/g, '').toUpperCase(),
      senha: textOf(values, 'senha'),
      agora: Date.now(),
    });
    terminal.out(describePki(pki));
    return 0;
  },
};

const RECUSADOS: Readonly<Record<Recusado, string>> = {
  vencido: 'venceu há 35 dias (E903, E9006)',
  'ainda-nao-vale': 'só vale daqui a 35 dias (E903, E9006)',
  'outro-documento': 'de outra empresa (E906, E9007)',
  revogado: 'está na lista de revogação (E904, E9003)',
  'outra-raiz': 'de uma raiz em que ninguém confia (E904, E9003)',
};

function describePki(pki: Pki): string {
  const named = ({ pfx }: CertificateFiles): string => pfx.replace(/pfx$/, '{pem,key,pfx}');
  const { adn, prestadores } = pki;
  return [
    `ICP-Brasil de teste criada em ${pki.pasta}. Serve para experimentar: ninguém mais confia nela.`,
    '',
    ...columns([
      [pki.ancoras, 'raiz e intermediária em que o município confia (--ancoras)'],
      [pki.revogados, 'listas de certificados revogados (--revogados)'],
      ...prestadores.map((one) => [named(one), providerOf(one)] as const),
      [named(pki.municipio), `município, CNPJ ${pki.municipio.documento}: assina a NFS-e e abre a conexão com o ADN`],
      [adn.certificado, 'servidor do simulador do ADN em localhost, com a cadeia (--certificado)'],
      [adn.chave, 'chave do servidor do simulador (--chave)'],
      [adn.clientes, 'autoridades dos clientes que o simulador aceita (--clientes)'],
      [adn.ca, 'autoridade pela qual o serviço conhece o simulador (--adn-ca)'],
      ...[...pki.recusados].map(([why, one]) => [named(one), `recusado: ${RECUSADOS[why]}`] as const),
      [pki.senhaArquivo, 'senha de todos os .pfx (--senha-arquivo)'],
    ]),
    '',
    'O .pem traz o certificado e a cadeia, o .key a chave, o .pfx os dois. Para assinar uma DPS:',
    '',
    `  nfse assinar dps.xml --pfx ${prestadores[0]!.pfx} --senha-arquivo ${pki.senhaArquivo}`,
    '',
  ].join('\n');
}

function providerOf({ documento }: CertificateFiles): string {
  return documento.length === 11 ? `prestador pessoa física, CPF ${documento}` : `prestador, CNPJ ${documento}`;
}
