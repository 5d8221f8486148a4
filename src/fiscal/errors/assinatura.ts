/** Codes of the signature: 422 inside the XML, 401 in the header of a JSON request. None of them refuses in the sandbox (D-30). */
import type { Row } from './row.ts';

/** An invalid signature stays invalid when it is sent again; the sandbox only remarks upon it (D-30). */
function remarkInSandbox(status: number, rows: readonly Omit<Row, 'status' | 'transitorio'>[]): readonly Row[] {
  return rows.map((row) => ({ ...row, status, transitorio: false, integracao: 'avisa' }));
}

export const ASSINATURA: readonly Row[] = [
  ...remarkInSandbox(422, [
    {
      codigo: 'E901',
      mensagem: 'DPS sem assinatura',
      significado: 'Em produção a DPS em XML vem assinada pelo prestador, e esta não traz o elemento Signature.',
      comoResolver:
        'Assine infDPS com o certificado A1 do prestador (C14N exclusiva, RSA-SHA256, SHA-256) e ponha Signature depois de infDPS, dentro de DPS.',
      origem: 'Especificação, Authentication: XML path; decisão D-30',
      nacional: 'O padrão nacional responde E0717 à falta de assinatura.',
      pedidos: [
        {
          recusado: '<DPS …>\n  <infDPS Id="DPS3550308…">…</infDPS>\n</DPS>',
          aceito:
            '<DPS …>\n  <infDPS Id="DPS3550308…">…</infDPS>\n  <Signature xmlns="http://www.w3.org/2000/09/xmldsig#">…</Signature>\n</DPS>',
        },
      ],
    },
    {
      codigo: 'E902',
      mensagem: 'A assinatura não confere com o documento',
      significado:
        'O resumo de infDPS ou o valor da assinatura não se confirma, ou a assinatura usa algoritmos, transformações ou referência fora do perfil aceito. A mensagem diz o que foi achado e o que se pede.',
      comoResolver:
        'Assine por último e envie os mesmos bytes, sem reindentar nem recodificar. Use uma só Reference, ao Id de infDPS, com enveloped-signature e C14N exclusiva, RSA-SHA256 e SHA-256.',
      origem: 'Especificação, Authentication: XML path; decisão D-33',
      nacional: 'O padrão nacional responde E0714, e E0716 quando o certificado está fora do perfil.',
      pedidos: [
        {
          titulo: 'A referência não é ao Id de infDPS',
          recusado: '<Reference URI="">…</Reference>',
          aceito: '<Reference URI="#DPS3550308…">…</Reference>',
        },
      ],
    },
    {
      codigo: 'E903',
      mensagem: 'Certificado da assinatura fora da validade',
      significado: 'O certificado ainda não vale ou já venceu na data da emissão.',
      comoResolver: 'Renove o certificado do prestador e assine de novo.',
      origem: 'Especificação, Authentication: XML path',
      nacional: 'O padrão nacional responde E0715.',
      pedidos: [
        {
          titulo:
            'O certificado de X509Certificate, lido por openssl x509 -noout -dates, numa requisição de 21/11/2026',
          recusado: 'notBefore=Oct 18 15:00:00 2025 GMT\nnotAfter=Oct 17 15:00:00 2026 GMT',
          aceito: 'notBefore=Jul 24 15:00:00 2026 GMT\nnotAfter=Mar 21 15:00:00 2027 GMT',
        },
      ],
    },
    {
      codigo: 'E904',
      mensagem: 'Certificado ilegível ou não confiável',
      significado:
        'X509Certificate não contém um certificado que se possa ler, ou a sua cadeia não chega a uma raiz em que o município confia, ou ele foi revogado, ou ele ou uma autoridade da cadeia é para outro uso ou para outros nomes.',
      comoResolver:
        'Ilegível: ponha em X509Certificate o certificado do prestador, em DER e Base64, sem cabeçalhos nem quebras de linha. Cadeia não confiável: assine com um certificado ICP-Brasil; se já é, a mensagem diz que autoridade falta, e o município a acrescenta. Revogado: peça outro à autoridade que o emitiu. Para outro uso: com extendedKeyUsage o certificado precisa admitir emailProtection, clientAuth ou anyExtendedKeyUsage, como um e-CNPJ ou e-CPF; o de um servidor não assina.',
      origem: 'Especificação, Authentication: XML path; decisões D-30 e D-232',
      nacional: 'O padrão nacional responde E0715.',
      pedidos: [
        {
          titulo: 'O que está em X509Certificate: o PEM inteiro, e o DER em Base64',
          recusado: '<X509Certificate>-----BEGIN CERTIFICATE-----\nMIIH…\n-----END CERTIFICATE-----</X509Certificate>',
          aceito: '<X509Certificate>MIIH…</X509Certificate>',
        },
        {
          titulo: 'O emissor do certificado, lido por openssl x509 -noout -issuer',
          recusado: 'issuer=CN=Minha Empresa (autoassinado)',
          aceito: 'issuer=C=BR, O=ICP-Brasil, …',
        },
      ],
    },
    {
      codigo: 'E905',
      mensagem: 'Assinatura sem o certificado',
      significado: 'Signature não traz KeyInfo/X509Data/X509Certificate, e sem ele não se sabe quem assinou.',
      comoResolver: 'Configure a biblioteca de assinatura para incluir o certificado do assinante em KeyInfo.',
      origem: 'Especificação, Authentication: XML path',
      pedidos: [
        {
          recusado: '<Signature …>\n  …\n  <SignatureValue>…</SignatureValue>\n</Signature>',
          aceito:
            '<Signature …>\n  …\n  <SignatureValue>…</SignatureValue>\n  <KeyInfo>\n    <X509Data>\n      <X509Certificate>MIIH…</X509Certificate>\n    </X509Data>\n  </KeyInfo>\n</Signature>',
        },
      ],
    },
    {
      codigo: 'E906',
      mensagem: 'O certificado não é do prestador',
      significado:
        'O CNPJ ou CPF do certificado não é o de prest. O CNPJ se compara pelos 8 primeiros caracteres, o CPF por inteiro.',
      comoResolver: 'Assine com o certificado do prestador que emite; o da matriz serve às filiais.',
      origem: 'Especificação, Authentication: XML path; decisão D-31',
      nacional: 'O padrão nacional responde E0718.',
      pedidos: [
        {
          titulo:
            'A DPS traz em prest o CNPJ 11222333000181; o nome do certificado, lido por openssl x509 -noout -subject',
          recusado: 'subject=C=BR, O=ICP-Brasil, …, CN=OUTRA EMPRESA LTDA:11444777000161',
          aceito: 'subject=C=BR, O=ICP-Brasil, …, CN=EMPRESA EXEMPLO LTDA:11222333000181',
        },
      ],
    },
  ]),
  ...remarkInSandbox(401, [
    {
      codigo: 'E9002',
      mensagem: 'Requisição JSON sem assinatura',
      significado:
        'Em produção o corpo JSON vem com a assinatura no cabeçalho: X-DPS-Assinatura na emissão, X-Evento-Assinatura nos eventos.',
      comoResolver:
        'Assine os bytes do corpo em CMS destacado (PKCS#7), com o certificado dentro, e envie em Base64 no cabeçalho.',
      origem: 'Especificação, Authentication: JSON path; decisão D-30',
      pedidos: [
        {
          recusado:
            'POST /cidade/api/v1/nfse/v101\nContent-Type: application/json\n\n{ "data_competencia": "2026-10-05", … }',
          aceito:
            'POST /cidade/api/v1/nfse/v101\nContent-Type: application/json\nX-DPS-Assinatura: MIIK…\n\n{ "data_competencia": "2026-10-05", … }',
        },
      ],
    },
    {
      codigo: 'E9003',
      mensagem: 'A assinatura não confere com o corpo',
      significado:
        'O cabeçalho não traz um CMS que se possa ler, a assinatura não cobre exatamente os bytes recebidos, ou o CMS traz junto o que não se lê, ou o certificado não serve para assinar (extendedKeyUsage) ou a sua cadeia não é confiável; estas últimas, também do certificado que veio com a conexão numa consulta que o pede.',
      comoResolver:
        'Assine os bytes que vão na requisição e não serialize o JSON de novo depois: um espaço ou uma ordem de chaves diferente já invalida a assinatura. No CMS vão só a assinatura, o certificado de quem assinou e, se quiser, os da cadeia dele.',
      origem: 'Especificação, Authentication: JSON path; decisões D-30, D-232 e D-233',
      pedidos: [
        {
          titulo: 'O corpo que se assinou foi {"numero_dps":42,…}',
          recusado: '{ "numero_dps": 42, … }',
          aceito: '{"numero_dps":42,…}',
        },
      ],
    },
    {
      codigo: 'E9006',
      mensagem: 'Certificado da requisição JSON fora da validade',
      significado:
        'O certificado que assinou o corpo, ou que veio com a conexão numa consulta que o pede, ainda não vale ou já venceu.',
      comoResolver: 'Renove o certificado e assine de novo.',
      origem: 'Especificação, Authentication: JSON path',
      pedidos: [
        {
          titulo: 'O certificado dentro do CMS, lido por openssl x509 -noout -dates, numa requisição de 21/11/2026',
          recusado: 'notBefore=Oct 18 15:00:00 2025 GMT\nnotAfter=Oct 17 15:00:00 2026 GMT',
          aceito: 'notBefore=Jul 24 15:00:00 2026 GMT\nnotAfter=Mar 21 15:00:00 2027 GMT',
        },
      ],
    },
    {
      codigo: 'E9007',
      mensagem: 'O certificado não é da parte esperada',
      significado:
        'Quem assinou não é o prestador da DPS nem o autor do evento; ou, na consulta por DPS e na situação do prestador em produção, a conexão não traz o certificado de uma parte da nota ou do próprio prestador. O CNPJ se compara pela raiz, o CPF por inteiro.',
      comoResolver:
        'Assine com o certificado do prestador, e um evento com o da parte que o registra. Na consulta por DPS apresente um certificado de cliente (TLS) do prestador, tomador ou intermediário, ou consulte pela chave de acesso; na situação, o do prestador.',
      origem: 'Especificação, Authentication: JSON path; decisões D-31 e D-41',
      pedidos: [
        {
          titulo:
            'O corpo traz em prestador o CNPJ 11222333000181; o nome do certificado, lido por openssl x509 -noout -subject',
          recusado: 'subject=C=BR, O=ICP-Brasil, …, CN=OUTRA EMPRESA LTDA:11444777000161',
          aceito: 'subject=C=BR, O=ICP-Brasil, …, CN=EMPRESA EXEMPLO LTDA:11222333000181',
        },
      ],
    },
  ]),
  {
    codigo: 'E9016',
    mensagem: 'Evento de ofício ou de sistema não se registra por este canal',
    significado:
      'O tipo do evento é registrado pelo município ou pelo sistema nacional, e não por uma parte da nota: análise fiscal deferida ou indeferida, confirmação tácita, anulação de rejeição, cancelamento, bloqueio e desbloqueio por ofício.',
    comoResolver: 'Procure a prefeitura. O catálogo em /catalogo/motivos_evento mostra os tipos que este canal recebe.',
    origem: 'Especificação, Errors: E9016; decisão D-50',
    status: 401,
    transitorio: false,
    pedidos: [
      {
        recusado:
          'POST /integracao/api/v1/nfse/{chave_acesso}/eventos\nContent-Type: application/json\n\n{ "tipo_evento": "cancelamento_por_oficio" }',
        aceito:
          'POST /integracao/api/v1/nfse/{chave_acesso}/eventos\nContent-Type: application/json\n\n{ "tipo_evento": "cancelamento", "codigo_motivo_cancelamento": "2", "descricao_motivo_cancelamento": "Serviço contratado que não foi prestado" }',
      },
    ],
  },
];
