// java PrimeiraNota.java dps.json            (Java 11 ou mais novo, sem dependências)
import java.net.URI;
import java.net.http.*;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.*;
import java.time.Duration;
import java.util.UUID;
import java.util.regex.*;

public class PrimeiraNota {
    static final HttpClient HTTP = HttpClient.newHttpClient();

    public static void main(String[] args) throws Exception {
        String base = args.length > 1 ? args[1] : "http://127.0.0.1:8080/integracao";
        byte[] corpo = Files.readAllBytes(Path.of(args.length > 0 ? args[0] : "dps.json")); // os bytes, como estão

        // Uma chave por nota, gerada antes do primeiro envio e repetida em cada repetição dele.
        HttpRequest emissao = HttpRequest.newBuilder(URI.create(base + "/api/v1/nfse/v101"))
            .header("Content-Type", "application/json")
            .header("Idempotency-Key", UUID.randomUUID().toString())
            .timeout(Duration.ofSeconds(30))
            .POST(HttpRequest.BodyPublishers.ofByteArray(corpo)).build();
        HttpResponse<String> resposta = null;
        for (int tentativa = 1; ; tentativa++) {
            resposta = enviar(emissao);
            int status = resposta == null ? 0 : resposta.statusCode();
            if (status > 0 && status < 500 && status != 408 && status != 409 && status != 429) break;
            if (tentativa == 8) throw new Exception("O serviço não respondeu. Repita mais tarde, com a mesma chave do envio.");
            esperar(resposta, Math.min(1 << tentativa, 60));
        }
        if (resposta.statusCode() != 201) {
            System.err.println(resposta.body()); // erros: codigo, xpath, campo, mensagem
            System.exit(1);
        }
        String chave = campo(resposta.body(), "chave_acesso");
        System.out.println("Emitida: " + chave);

        HttpRequest consulta = HttpRequest.newBuilder(URI.create(base + "/api/v1/nfse/" + chave)).build();
        for (int pausa = 1; ; pausa = Math.min(pausa * 2, 60)) {
            resposta = enviar(consulta);
            String dados = resposta == null ? "" : resposta.body();
            if (dados.contains("\"status\":\"rejeitado\"")) throw new Exception("O ADN recusou: " + campo(dados, "mensagem_retorno"));
            if (dados.contains("\"status\":\"autorizada\"")) {
                Files.writeString(Path.of(chave + ".xml"), campo(dados, "xml_nota"));
                System.out.println("Autorizada, ISSQN " + campo(dados, "valor_issqn") + ": " + chave + ".xml");
                return;
            }
            esperar(resposta, pausa);
        }
    }

    /** Nulo quando não houve resposta: não se sabe se o pedido chegou. */
    static HttpResponse<String> enviar(HttpRequest pedido) throws InterruptedException {
        try {
            return HTTP.send(pedido, BodyHandlers.ofString());
        } catch (java.io.IOException semResposta) {
            return null;
        }
    }

    static void esperar(HttpResponse<?> resposta, int segundos) throws InterruptedException {
        String pedido = resposta == null ? "0" : resposta.headers().firstValue("Retry-After").orElse("0");
        Thread.sleep(1000L * Math.max(segundos, Integer.parseInt(pedido)));
    }

    /** Um texto do JSON. No seu sistema, use o leitor de JSON que já tem. */
    static String campo(String json, String nome) {
        Matcher achado = Pattern.compile("\"" + nome + "\":\"((?:[^\"\\\\]|\\\\.)*+)\"").matcher(json);
        if (!achado.find()) return null;
        return achado.group(1).replace("\\n", "\n").replace("\\\"", "\"").replace("\\\\", "\\");
    }
}
