from binary_options import AuthMapping, AuthSession, Username

AuthMapping(username="zhangsan")
AuthSession(user_id="10086")
AuthSession(user_id=Username("zhangsan"))
